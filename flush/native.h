// The native path: IPIs.
#pragma once

#include "flush/predicate.h"
#include "model/flush_tlb_func.h"

namespace hvtlb {

/// Zoo Z26: the sender removes the bit of a CPU on which it has read another mm. Returns whether it
/// did.
template <MemoryPolicy P>
bool sender_trims(Kernel<P>& k, Cpu self, Cpu cpu, const FlushTlbInfo& info) {
  if (k.rules.trim_by != TrimBy::kSender || !info.trim_cpumask) return false;
  const u64 loaded_mm = k.mem.load(self, k.guest.cpu_tlbstate_shared[cpu].loaded_mm);
  if (loaded_mm == info.mm || loaded_mm == kLoadedMmSwitching) return false;
  cpumask_clear_cpu(k.mem, self, cpu, k.guest.mm(info.mm).cpumask);
  return true;
}

/// `native_flush_tlb_multi()`: runs the handler on every online CPU of the mask that passes the
/// predicate; with freed tables, or while the mm moves to a global ASID, on every online CPU of it.
template <MemoryPolicy P>
void native_flush_tlb_multi(Kernel<P>& k, Cpu self, std::span<const u64> cpumask,
                            const FlushTlbInfo& info) {
  const bool unconditional = reaches_whole_mask(k, self, info);
  // Whether this CPU takes part is decided on entry; the others as their IPI is queued.
  const bool self_in_mask = cpumask_test_cpu(k.mem, self, self, cpumask);
  CpuMask targets(k.guest.nr_cpus);
  for (u32 at = 0; at < cpumask.size(); ++at) {
    u64 word = k.mem.load(self, cpumask[at]) & k.mem.load(self, k.guest.cpu_online_mask[at]);
    for (; word != 0; word &= word - 1) {
      const Cpu cpu = at * kBitsPerWord + static_cast<u32>(std::countr_zero(word));
      if (cpu == self) continue;
      if (!unconditional && sender_trims(k, self, cpu, info)) continue;
      if (unconditional || should_flush_tlb(k, self, cpu, info)) targets.set(cpu);
    }
  }
  if (self_in_mask && (unconditional || should_flush_tlb(k, self, self, info))) targets.set(self);
  k.mem.flush_sent_natively(self, targets, info);
  k.mem.on_each_cpu(self, targets, [&k, &info](Cpu cpu) { flush_tlb_func(k, cpu, info); });
}

}  // namespace hvtlb
