// Batches of unmapped pages that wait for one flush (mm/rmap.c, `arch_tlbbatch_*`).
#pragma once

#include "flush/flush_tlb.h"

namespace hvtlb {

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

/// ORs the mm's mask into the batch's.
template <MemoryPolicy P>
void batch_takes_mask(Kernel<P>& k, Cpu self, TlbBatch& batch, const Mm& mm) {
  batch.cpumask.resize(mm.cpumask.size());
  for (u32 at = 0; at < mm.cpumask.size(); ++at)
    batch.cpumask[at] |= k.mem.load(self, mm.cpumask[at]);
}

/// `arch_tlbbatch_add_pending()`: the generation first, then the mask; a CPU that enters the mask
/// in between sees the new generation.
template <MemoryPolicy P>
void arch_tlbbatch_add_pending(Kernel<P>& k, Cpu self, TlbBatch& batch, MmId mm_id,
                               FlushTlbInfo& info) {
  Mm& mm = k.guest.mm(mm_id);
  info.mm = mm_id;
  info.initiating_cpu = self;
  const bool mask_first = k.rules.batch_mask == BatchMask::kBeforeGen;
  if (mask_first) batch_takes_mask(k, self, batch, mm);
  info.new_tlb_gen = k.mem.locked(self, mm.tlb_gen, RmwOp::kAdd, 1) + 1;
  k.mem.batch_requested(self, info);
  if (!mask_first) batch_takes_mask(k, self, batch, mm);
}

/// `mm->tlb_flush_batched` as two counters: how many unmaps were added to batches, and behind
/// `kFlushedShift` how many of them have been flushed.
inline constexpr u64 kPendingMask = 0x7fff;
inline constexpr u64 kPendingLarge = kPendingMask / 2;
inline constexpr u64 kFlushedShift = 16;

/// One more unmap is pending. Large counters begin anew, so that they never catch up by overflow.
template <MemoryPolicy P>
void count_pending(Kernel<P>& k, Cpu self, u64& batched) {
  u64 seen = k.mem.load(self, batched);
  while ((seen & kPendingMask) > kPendingLarge) {
    const u64 before = k.mem.cmpxchg(self, batched, seen, 1);
    if (before == seen) return;
    seen = before;
  }
  k.mem.locked(self, batched, RmwOp::kAdd, 1);
}

/// `set_tlb_ubc_flush_pending()`: one page of the mm was unmapped under its page-table lock.
template <MemoryPolicy P>
void set_tlb_ubc_flush_pending(Kernel<P>& k, Cpu self, TlbBatch& batch, MmId mm_id,
                               FlushTlbInfo& info) {
  arch_tlbbatch_add_pending(k, self, batch, mm_id, info);
  batch.flush_required = true;
  u64& batched = k.guest.mm(mm_id).tlb_flush_batched;
  switch (k.rules.batched_pending) {
    case BatchedPending::kCounters: count_pending(k, self, batched); break;
    case BatchedPending::kFlag: k.mem.store(self, batched, 1); break;
    case BatchedPending::kNothing: break;
  }
}

/// `flush_tlb_batched_pending()`: whoever finds a page unmapped, under its page-table lock, flushes
/// what other tasks have deferred for this mm.
template <MemoryPolicy P>
void flush_tlb_batched_pending(Kernel<P>& k, Cpu self, MmId mm_id) {
  if (k.rules.batched_pending == BatchedPending::kNothing) return;
  u64& batched = k.guest.mm(mm_id).tlb_flush_batched;
  const u64 seen = k.mem.load(self, batched);
  const u64 pending = seen & kPendingMask;
  if (pending == seen >> kFlushedShift) return;
  flush_tlb_mm(k, self, mm_id);
  if (k.rules.batched_pending == BatchedPending::kFlag)
    k.mem.store(self, batched, 0);
  else  // unless more was added meanwhile: then everything still has to be flushed
    k.mem.cmpxchg(self, batched, seen, pending | pending << kFlushedShift);
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
  if (has_global_asids(k)) {
    k.mem.invlpgb(self, {.every_pcid = true});
    k.mem.tlbsync(self);
  } else if (cpumask_any_but(k.mem, self, batch.cpumask, self)) {
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
