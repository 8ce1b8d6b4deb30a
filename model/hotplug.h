// A CPU goes offline and comes back.
#pragma once

#include "model/kernel.h"
#include "model/live_mask.h"
#include "model/switch_mm.h"

namespace hvtlb {

/// The CPU leaves its mm, and is gone at a moment at which no other CPU is inside a flush
/// (`stop_machine()`): nobody waits for an IPI of its. In the lazy-bit eras stale bits of it stay
/// in the masks of the mms it ran.
template <MemoryPolicy P>
void cpu_offline(Kernel<P>& k, Cpu cpu) {
  leave_mm(k, cpu);
  k.mem.stop_machine(cpu);
  cpumask_clear_cpu(k.mem, cpu, cpu, k.guest.cpu_online_mask);
}

/// `initialize_tlbstate_and_flush()` on a CPU that comes up: slot 0 holds `init_mm`, the others
/// hold nobody; `invalidate_other` survives.
template <MemoryPolicy P>
void cpu_online(Kernel<P>& k, Cpu cpu) {
  IrqsOff irqs_off(k.mem, cpu);
  cpumask_set_cpu(k.mem, cpu, cpu, k.guest.cpu_online_mask);
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  const Mm& init_mm = k.guest.mm(kInitMm);
  const u64 tlb_gen = k.mem.load(cpu, init_mm.tlb_gen);
  load_new_mm_cr3(k, cpu, init_mm, {0, true});
  tlb.loaded_mm_asid = tlb.seen_asid = 0;
  tlb.next_asid = 1;
  tlb.ctxs[0] = {init_mm.ctx_id, tlb_gen};
  for (u32 asid = 1; asid < kNrDynAsids; ++asid) tlb.ctxs[asid].ctx_id = 0;
}

}  // namespace hvtlb
