// Where a flush begins: ranges of an mm, and batches of unmapped pages.
#pragma once

#include "flush/hyperv.h"

namespace hvtlb {

/// `flush_tlb_multi()`: the paravirtual operation. Enters with the generation incremented.
template <MemoryPolicy P>
void flush_tlb_multi(Kernel<P>& k, Cpu self, std::span<const u64> cpumask,
                     const FlushTlbInfo& info) {
  k.mem.flush_targets(self, cpumask, info);
  if (k.guest.hyperv)
    hyperv_flush_tlb_multi(k, self, cpumask, info);
  else
    native_flush_tlb_multi(k, self, cpumask, info);
}

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

/// `flush_tlb_mm_range()`. REQUIRES: the mm is alive; an mm with a global ASID is in transition
/// (its broadcast flush is not modelled).
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
  // LOCKed: also the fence between the page-table stores and the look at the mask.
  const bool after_send = k.rules.gen_increment == GenIncrement::kAfterSend;
  info.new_tlb_gen = 1 + (after_send ? k.mem.load(self, mm.tlb_gen)
                                     : k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1));
  k.mem.flush_requested(self, info);

  if (mm_in_asid_transition(k, self, info)) {
    flush_tlb_multi(k, self, mm.cpumask, info);
  } else if (cpumask_any_but(k.mem, self, mm.cpumask, self)) {
    if (k.rules.sender_asks_trim) info.trim_cpumask = should_trim_cpumask(k, self, mm);
    flush_tlb_multi(k, self, mm.cpumask, info);
  } else {
    k.mem.flush_targets(self, mm.cpumask, info);
    if (k.mem.load(self, k.guest.cpu_tlbstate_shared[self].loaded_mm) == mm_id)
      flush_tlb_func_local(k, self, info);
  }
  if (after_send) k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1);
  k.mem.flush_returned(self, info);
}

/// Pages that were unmapped and wait for one flush (`arch_tlbflush_unmap_batch`). A task's own
/// memory: no other CPU looks at it.
struct TlbBatch {
  std::vector<u64> cpumask;
  bool flush_required = false;
};

/// A task that reclaims allocates and comes into reclaim again. The inner one must leave the batch
/// of the outer one alone: it once began with an empty batch (zoo Z23a).
inline void nested_reclaim(const Rules& rules, TlbBatch& batch) {
  if (!rules.nested_reclaim_keeps_batch) batch.flush_required = false;
}

/// `arch_tlbbatch_add_pending()`: the generation first, then the mask; a CPU that enters the mask
/// in between sees the new generation.
template <MemoryPolicy P>
void arch_tlbbatch_add_pending(Kernel<P>& k, Cpu self, TlbBatch& batch, MmId mm_id,
                               FlushTlbInfo& info) {
  Mm& mm = k.guest.mm(mm_id);
  info.mm = mm_id;
  info.has_mm = true;
  info.initiating_cpu = self;
  info.new_tlb_gen = k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1) + 1;
  k.mem.batch_requested(self, info);
  batch.cpumask.resize(mm.cpumask.size());
  for (u32 at = 0; at < mm.cpumask.size(); ++at)
    batch.cpumask[at] |= k.mem.load(self, mm.cpumask[at]);
  batch.flush_required = true;
}

/// `try_to_unmap_flush()`, `arch_tlbbatch_flush()`: no mm, no generation, everything; lazy CPUs are
/// skipped, nothing trims.
template <MemoryPolicy P>
void arch_tlbbatch_flush(Kernel<P>& k, Cpu self, TlbBatch& batch) {
  FlushTlbInfo info;
  info.initiating_cpu = self;
  if (!batch.flush_required) {
    k.mem.flush_targets(self, batch.cpumask, info);
    k.mem.flush_returned(self, info);
    return;
  }
  if (cpumask_any_but(k.mem, self, batch.cpumask, self)) {
    flush_tlb_multi(k, self, batch.cpumask, info);
  } else {
    k.mem.flush_targets(self, batch.cpumask, info);
    if (cpumask_test_cpu(k.mem, self, self, batch.cpumask)) flush_tlb_func_local(k, self, info);
  }
  std::fill(batch.cpumask.begin(), batch.cpumask.end(), 0);
  batch.flush_required = false;
  k.mem.flush_returned(self, info);
}

}  // namespace hvtlb
