// The flush handler: what a CPU does that is asked to flush, by IPI or by itself.
#pragma once

#include "model/kernel.h"
#include "model/switch_mm.h"

namespace hvtlb {

/// `flush_tlb_local()`: empties the loaded ASID by writing CR3 as it is.
template <MemoryPolicy P>
void flush_tlb_local(Kernel<P>& k, Cpu cpu, const Mm& loaded_mm) {
  load_new_mm_cr3(k, cpu, loaded_mm, {k.guest.cpu_tlbstate[cpu].loaded_mm_asid, true});
}

/// What `flush_tlb_func()` does.
template <MemoryPolicy P>
void do_flush_tlb_func(Kernel<P>& k, Cpu cpu, const FlushTlbInfo& f) {
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  const u64 loaded_id = k.mem.load(cpu, shared.loaded_mm);
  const bool local = cpu == f.initiating_cpu;

  const u64 asked_mm =
      k.rules.active_mm == ActiveMm::kNotAsked ? loaded_id : k.mem.load(cpu, tlb.active_mm);
  if (f.has_mm && f.mm != asked_mm) {
    if (k.rules.handler_foreign_mm == ForeignMm::kClearsOwnBit) {
      cpumask_clear_cpu(k.mem, cpu, cpu, k.guest.mm(f.mm).cpumask);
      return;
    }
    if (!local) return;
  }
  // Interrupts are off during a switch: only a faulty rule brings a handler to the marker.
  if (loaded_id == kInitMm || loaded_id == kLoadedMmSwitching) return;

  const MmId loaded = static_cast<MmId>(loaded_id);
  Mm& loaded_mm = k.guest.mm(loaded);
  const bool lazy_first =
      k.rules.handler_lazy_first && k.mem.load(cpu, shared.is_lazy) != 0;  // zoo Z25a
  if (!lazy_first && mm_needs_global_asid(k, cpu, loaded_mm, tlb.loaded_mm_asid))
    switch_mm_irqs_off(k, cpu, loaded);
  if (!lazy_first && is_global_asid(tlb.loaded_mm_asid)) return;

  if (lazy_first || k.mem.load(cpu, shared.is_lazy) != 0) {
    // A lazy CPU must at least drop its paging-structure cache; leaving the mm is as cheap.
    switch_mm_irqs_off(k, cpu, kInitMm);
    return;
  }

  TlbContext& ctx = tlb.ctxs[tlb.loaded_mm_asid];
  const u64 local_tlb_gen = ctx.tlb_gen;
  const bool has_gen =
      f.new_tlb_gen != kTlbGenerationInvalid || !k.rules.handler_knows_no_gen;  // zoo Z08
  if (has_gen && f.new_tlb_gen <= local_tlb_gen) return;
  const u64 mm_tlb_gen = k.mem.load(cpu, loaded_mm.tlb_gen);
  if (local_tlb_gen == mm_tlb_gen) return;

  // A partial flush must be the one flush that is missing: had another one been overtaken, its
  // pages would be marked as done without having been flushed.
  const bool next_gen =
      f.new_tlb_gen == local_tlb_gen + 1 || k.rules.partial_flush == PartialFlush::kNewestGen;
  if (f.end != kTlbFlushAll && next_gen && f.new_tlb_gen == mm_tlb_gen) {
    const u64 stride = u64{1} << f.stride_shift;
    for (u64 addr = f.start; addr < f.end; addr += stride) {
      k.mem.invlpg(cpu, addr, f.stride_shift);
      invalidate_user_asid(k, cpu, tlb.loaded_mm_asid);  // as on a CPU without INVPCID
      if (addr + stride < addr) break;                   // the top of the address space
    }
  } else {
    flush_tlb_local(k, cpu, loaded_mm);
  }
  ctx.tlb_gen = mm_tlb_gen;
}

/// `flush_tlb_func()`. REQUIRES: interrupts are off on `cpu`.
template <MemoryPolicy P>
void flush_tlb_func(Kernel<P>& k, Cpu cpu, const FlushTlbInfo& f) {
  const u64 asked = k.mem.asks(cpu);
  do_flush_tlb_func(k, cpu, f);
  k.mem.answered(cpu, asked, 0);
}

}  // namespace hvtlb
