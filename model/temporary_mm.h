// Temporary mms: text poking and EFI calls load an mm for a moment with interrupts off.
#pragma once

#include "model/kernel.h"
#include "model/switch_mm.h"

namespace hvtlb {

/// `use_temporary_mm()`. A lazy CPU leaves its mm first: otherwise it would come back to it as a
/// real user. Interrupts stay off until unuse_temporary_mm(), as text_poke() keeps them.
/// REQUIRES: the CPU is not inside a temporary mm.
template <MemoryPolicy P>
void use_temporary_mm(Kernel<P>& k, Cpu cpu, MmId temporary) {
  k.mem.irq_save(cpu);
  CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  if (k.rules.temporary_mm_leaves_lazy && k.mem.load(cpu, shared.is_lazy) != 0) leave_mm(k, cpu);
  k.guest.mm(temporary).temporary = true;
  k.guest.cpu_tlbstate[cpu].temporary_mm_prev =
      static_cast<MmId>(k.mem.load(cpu, shared.loaded_mm));
  switch_mm_irqs_off(k, cpu, temporary);
}

/// `unuse_temporary_mm()`. REQUIRES: the CPU is inside a temporary mm.
template <MemoryPolicy P>
void unuse_temporary_mm(Kernel<P>& k, Cpu cpu) {
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  const u64 loaded = k.mem.load(cpu, k.guest.cpu_tlbstate_shared[cpu].loaded_mm);
  if (k.rules.unuse_clears_bit && loaded != kInitMm)
    cpumask_clear_cpu(k.mem, cpu, cpu, k.guest.mm(static_cast<MmId>(loaded)).cpumask);
  const MmId prev = *tlb.temporary_mm_prev;
  tlb.temporary_mm_prev.reset();
  switch_mm_irqs_off(k, cpu, prev);
  k.mem.irq_restore(cpu);
}

}  // namespace hvtlb
