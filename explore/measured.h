// What a search measures on its way, and judges not: the most of each in any interleaving.
#pragma once

#include <algorithm>

#include "model/flush_tlb_info.h"
#include "model/guest.h"

namespace hvtlb::explore {

/// P5 and P6, as far as one moment shows them: numbers of CPUs. What a correct rule has chosen may
/// be needless by the time it is sent, so they say more of a litmus whose other CPUs stay as they
/// are. Each is taken at a step that the reduction never takes early, from memory and the request:
/// so it comes out the same whichever orders are left out.
struct Measured {
  u32 lazy_reached = 0;   ///< at the moment of sending lazy, without freed tables
  u32 stale_reached = 0;  ///< not lazy and on another mm; by IPI outside of trim rounds only
  u32 swept_in = 0;       ///< of either kind or none: not in the mask, named by ALL_PROCESSORS
  u32 left_in_mask = 0;   ///< when a trim round is done: online, not lazy, on another mm

  bool operator==(const Measured&) const = default;

  void raise(const Measured& other) {
    lazy_reached = std::max(lazy_reached, other.lazy_reached);
    stale_reached = std::max(stale_reached, other.stale_reached);
    swept_in = std::max(swept_in, other.swept_in);
    left_in_mask = std::max(left_in_mask, other.left_in_mask);
  }
};

/// On another mm, and in no switch.
inline bool runs_another(const Guest& guest, Cpu cpu, MmId mm) {
  const CpuTlbStateShared& shared = guest.cpu_tlbstate_shared[cpu];
  return shared.is_lazy == 0 && shared.loaded_mm != mm && shared.loaded_mm != kLoadedMmSwitching;
}

/// P5, of a request that goes to these CPUs now, `by_all` by a call with ALL_PROCESSORS. With freed
/// tables lazy CPUs are to be reached, and while an mm moves to a global ASID everybody.
inline Measured needless_in(const Guest& guest, Cpu self, const CpuMask& targets,
                            const FlushTlbInfo& info, bool by_all) {
  Measured found;
  if (info.has_mm && guest.mm(info.mm).asid_transition != 0) return found;
  targets.for_each([&](Cpu cpu) {
    if (cpu == self || !guest.online(cpu)) return;
    if (!info.freed_tables && guest.cpu_tlbstate_shared[cpu].is_lazy != 0) ++found.lazy_reached;
    if (!info.has_mm) return;
    if (runs_another(guest, cpu, info.mm)) ++found.stale_reached;
    if (by_all && !guest.in_cpumask(info.mm, cpu)) ++found.swept_in;
  });
  return found;
}

/// P6, when a trim round is done.
inline Measured left_in_mask_of(const Guest& guest, Cpu self, MmId mm) {
  Measured found;
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu)
    found.left_in_mask += cpu != self && guest.online(cpu) && guest.in_cpumask(mm, cpu) &&
                          runs_another(guest, cpu, mm);
  return found;
}

}  // namespace hvtlb::explore
