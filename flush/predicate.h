// Whom the sender asks to flush: the native predicate, shared with Hyper-V's builder by the fix.
#pragma once

#include "model/kernel.h"

namespace hvtlb {

/// `should_flush_tlb()` of the era: whether `cpu`, a member of the mask, must be reached by `info`.
template <MemoryPolicy P>
bool should_flush_tlb(Kernel<P>& k, Cpu self, Cpu cpu, const FlushTlbInfo& info) {
  const CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  // loaded_mm before is_lazy, with a read fence between (TSO keeps loads in order): is_lazy is at
  // least as new as loaded_mm.
  const u64 loaded_mm = k.mem.load(self, shared.loaded_mm);
  if (k.mem.load(self, shared.is_lazy) != 0) return false;
  if (!k.rules.predicate_loaded_mm || !info.has_mm) return true;
  if (loaded_mm == info.mm || info.trim_cpumask) return true;
  return k.rules.predicate_switching && loaded_mm == kLoadedMmSwitching;
}

/// `mm_in_asid_transition()`.
template <MemoryPolicy P>
bool mm_in_asid_transition(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  return k.rules.global_asid && info.has_mm &&
         k.mem.load(self, k.guest.mm(info.mm).asid_transition) != 0;
}

/// `should_trim_cpumask()`: strictly after `next_trim_cpumask`, which then moves on. Asked without
/// a lock: two senders may both win.
template <MemoryPolicy P>
bool should_trim_cpumask(Kernel<P>& k, Cpu self, Mm& mm) {
  const u64 next_trim = k.mem.load(self, mm.next_trim_cpumask);
  if (static_cast<std::int64_t>(next_trim - k.guest.jiffies) >= 0) return false;
  k.mem.store(self, mm.next_trim_cpumask, k.guest.jiffies + k.guest.hz);
  return true;
}

}  // namespace hvtlb
