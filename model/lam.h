// Linear address masking: an mm that enables it needs bits in CR3 wherever it is loaded.
#pragma once

#include "model/kernel.h"
#include "model/switch_mm.h"

namespace hvtlb {

inline constexpr u64 kCr3LamU57 = u64{1} << 61;

/// `mm_enable_lam()`: the bits first, then an IPI to every CPU that may have the mm loaded,
/// borrowed or not: a CPU that comes back to the same mm does not write CR3. REQUIRES: `self` runs
/// the mm.
template <MemoryPolicy P>
void enable_lam(Kernel<P>& k, Cpu self, MmId mm_id) {
  Mm& mm = k.guest.mm(mm_id);
  k.mem.store(self, mm.lam_cr3_mask, kCr3LamU57);
  CpuMask targets(k.guest.nr_cpus);
  targets.set(self);
  if (k.rules.lam_enable == LamEnable::kWholeMask)
    for_each_cpu(k.mem, self, mm.cpumask, [&](Cpu cpu) {
      if (k.guest.online(cpu)) targets.set(cpu);
      return true;
    });
  k.mem.on_each_cpu(self, targets, [&k, &mm, mm_id](Cpu cpu) {
    if (k.mem.load(cpu, k.guest.cpu_tlbstate_shared[cpu].loaded_mm) != mm_id) return;
    load_new_mm_cr3(k, cpu, mm, {k.guest.cpu_tlbstate[cpu].loaded_mm_asid, true});
  });
}

}  // namespace hvtlb
