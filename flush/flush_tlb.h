// Where the flush of a range begins. Batches of unmapped pages: tlbbatch.h.
#pragma once

#include "flush/broadcast.h"

namespace hvtlb {

/// `flush_tlb_func()` on this CPU alone.
template <MemoryPolicy P>
void flush_tlb_func_local(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  IrqsOff irqs_off(k.mem, self);
  k.mem.flush_local(self, info);
  flush_tlb_func(k, self, info);
}

/// The range that a request is flushed as: the whole space when it has too many strides.
constexpr AddressRange flushed_range(u64 start, u64 end, u8 stride_shift) {
  if (end == kTlbFlushAll || (end - start) >> stride_shift > kTlbSinglePageFlushCeiling)
    return {0, kTlbFlushAll};
  return {start, end};
}

/// `inc_mm_tlb_gen()`: the generation of the flush that begins. LOCKed: also the fence between the
/// page-table stores and the look at the mask.
template <MemoryPolicy P>
u64 inc_mm_tlb_gen(Kernel<P>& k, Cpu self, Mm& mm) {
  if (k.rules.gen_increment == GenIncrement::kBeforeSend)
    return k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1) + 1;
  const u64 next = k.mem.load(self, mm.tlb_gen) + 1;
  if (k.rules.gen_increment == GenIncrement::kPlain) k.mem.store(self, mm.tlb_gen, next);
  return next;
}

/// `flush_tlb_mm_range()`. REQUIRES: the mm is alive.
template <MemoryPolicy P>
void flush_tlb_mm_range(Kernel<P>& k, Cpu self, MmId mm_id, u64 start, u64 end, u8 stride_shift,
                        bool freed_tables) {
  Mm& mm = k.guest.mm(mm_id);
  const AddressRange range = flushed_range(start, end, stride_shift);
  FlushTlbInfo info;
  info.mm = mm_id;
  info.has_mm = true;
  info.freed_tables = freed_tables;
  info.stride_shift = stride_shift;
  info.initiating_cpu = self;
  info.start = range.start;
  info.end = range.end;
  info.new_tlb_gen = inc_mm_tlb_gen(k, self, mm);
  k.mem.flush_requested(self, info);
  if (freed_tables && k.rules.table_free == TableFree::kBeforeFlush) k.mem.tables_freed(self, info);

  if (has_global_asids(k) && k.mem.load(self, mm.global_asid) != 0) {
    broadcast_tlb_flush(k, self, info);
  } else if (cpumask_any_but(k.mem, self, mm.cpumask, self)) {
    if (k.rules.sender_asks_trim) info.trim_cpumask = should_trim_cpumask(k, self, mm);
    flush_tlb_multi(k, self, mm.cpumask, info);
  } else {
    k.mem.flush_targets(self, mm.cpumask, info);
    if (k.mem.load(self, k.guest.cpu_tlbstate_shared[self].loaded_mm) == mm_id)
      flush_tlb_func_local(k, self, info);
  }
  if (k.rules.gen_increment == GenIncrement::kAfterSend)
    k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1);
  k.mem.flush_returned(self, info);
}

/// `flush_tlb_mm()`: everything, page tables included.
template <MemoryPolicy P>
void flush_tlb_mm(Kernel<P>& k, Cpu self, MmId mm_id) {
  flush_tlb_mm_range(k, self, mm_id, 0, kTlbFlushAll, 0, true);
}

}  // namespace hvtlb
