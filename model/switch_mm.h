// Switching between mms, and laziness: the receiving side of arch/x86/mm/tlb.c. Read it beside
// switch_mm_irqs_off(); the steps stand in the kernel's order under the kernel's names.
#pragma once

#include <cassert>

#include "model/kernel.h"
#include "model/live_mask.h"
#include "model/user_pcid.h"

namespace hvtlb {

constexpr bool is_global_asid(u64 asid) {
  return asid >= kNrDynAsids;
}

struct NewAsid {
  u64 asid;
  bool need_flush;
};

/// Whether the era and the machine know global ASIDs.
template <MemoryPolicy P>
bool has_global_asids(const Kernel<P>& k) {
  return k.rules.global_asid && k.guest.invlpgb;
}

/// Whether the mm moves to a global ASID and this CPU has not followed (`mm_needs_global_asid()`).
template <MemoryPolicy P>
bool mm_needs_global_asid(Kernel<P>& k, Cpu cpu, const Mm& mm, u64 asid) {
  if (!has_global_asids(k)) return false;
  const u64 global_asid = k.mem.load(cpu, mm.global_asid);
  return global_asid != 0 && asid != global_asid;
}

/// We get here when something could not invalidate all contexts: without a `ctx_id` a slot is
/// flushed when it is taken again.
inline void clear_asid_other(CpuTlbState& tlb) {
  for (u64 asid = 0; asid < kNrDynAsids; ++asid)
    if (asid != tlb.loaded_mm_asid) tlb.ctxs[asid].ctx_id = 0;
  tlb.invalidate_other = 0;
}

template <MemoryPolicy P>
NewAsid choose_new_asid(Kernel<P>& k, Cpu cpu, const Mm& next, u64 next_tlb_gen) {
  if (!k.guest.pcid) return {0, true};
  if (has_global_asids(k)) {
    // Broadcasts keep a global ASID up to date: it is never flushed at a switch.
    if (const u64 global_asid = k.mem.load(cpu, next.global_asid)) return {global_asid, false};
  }
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  if (tlb.invalidate_other) clear_asid_other(tlb);
  for (u64 asid = 0; asid < kNrDynAsids; ++asid)
    if (tlb.ctxs[asid].ctx_id == next.ctx_id)
      return {asid, k.rules.return_compares_gen && tlb.ctxs[asid].tlb_gen < next_tlb_gen};
  u64 asid = tlb.next_asid++;
  if (asid >= kNrDynAsids) {
    asid = 0;
    tlb.next_asid = 1;
  }
  return {asid, true};
}

/// `load_new_mm_cr3()`. A flush of the kernel's PCID marks the user's for the way out.
template <MemoryPolicy P>
void load_new_mm_cr3(Kernel<P>& k, Cpu cpu, const Mm& next, NewAsid ns) {
  const u64 pcid = k.guest.pcid ? kern_pcid(ns.asid) : 0;
  const u64 lam = k.guest.lam ? k.mem.load(cpu, next.lam_cr3_mask) : 0;
  if (ns.need_flush && k.rules.user_pcid_bit != UserPcidBit::kForgotten)
    invalidate_user_asid(k, cpu, ns.asid);
  k.mem.write_cr3(cpu, next.pgd | pcid | lam | (ns.need_flush ? 0 : kCr3NoFlush));
}

/// REQUIRES: interrupts are off on `cpu`; `next_id` is alive.
template <MemoryPolicy P>
void switch_mm_irqs_off(Kernel<P>& k, Cpu cpu, MmId next_id) {
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  Mm& next = k.guest.mm(next_id);
  const u64 asked = k.mem.asks(cpu);
  const u64 prev_id = k.mem.load(cpu, shared.loaded_mm);
  const u64 prev_asid = tlb.loaded_mm_asid;
  const bool was_lazy = k.mem.load(cpu, shared.is_lazy) != 0;
  u64 next_tlb_gen = 0;
  NewAsid ns{};
  assert(tlb.irqs_off > 0 && prev_id != kLoadedMmSwitching);

  const bool gen_first = k.rules.lazy_exit == LazyExit::kGenFirst && prev_id == next_id;
  if (was_lazy && gen_first) next_tlb_gen = k.mem.load(cpu, next.tlb_gen);
  if (was_lazy) k.mem.store(cpu, shared.is_lazy, 0);

  if (prev_id == next_id) {
    if (k.rules.same_mm_repairs_bit && next_id != kInitMm &&
        !cpumask_test_cpu(k.mem, cpu, cpu, next.cpumask))
      cpumask_set_cpu(k.mem, cpu, cpu, next.cpumask);

    if (mm_needs_global_asid(k, cpu, next, prev_asid)) {
      next_tlb_gen = k.mem.load(cpu, next.tlb_gen);
      ns = choose_new_asid(k, cpu, next, next_tlb_gen);
    } else {
      if (is_global_asid(prev_asid)) return;
      if (!was_lazy) return;
      // Without this fence the generation could be read before is_lazy := false is seen: a sender
      // in between would skip this CPU, and this CPU would miss the flush.
      if (k.rules.lazy_exit == LazyExit::kFence) k.mem.fence(cpu);
      if (!gen_first) next_tlb_gen = k.mem.load(cpu, next.tlb_gen);
      if (tlb.ctxs[prev_asid].tlb_gen == next_tlb_gen) return;
      ns = {prev_asid, true};
    }
  } else {
    const bool early_marker = k.rules.switching_marker == SwitchingMarker::kBeforeBits;
    if (early_marker) k.mem.store(cpu, shared.loaded_mm, kLoadedMmSwitching);

    if (k.rules.prev_bit == PrevBit::kCleared && prev_id != kInitMm)
      cpumask_clear_cpu(k.mem, cpu, cpu, k.guest.mm(static_cast<MmId>(prev_id)).cpumask);

    // Start receiving IPIs, and only then read the generation.
    if (next_id != kInitMm && k.rules.next_bit == NextBit::kPlainSet) {
      cpumask_set_cpu_plain(k.mem, cpu, cpu, next.cpumask);
    } else if (next_id != kInitMm && (k.rules.next_bit == NextBit::kLockedSet ||
                                      !cpumask_test_cpu(k.mem, cpu, cpu, next.cpumask))) {
      cpumask_set_cpu(k.mem, cpu, cpu, next.cpumask);
    } else if (k.rules.fence_if_bit_set) {
      k.mem.fence(cpu);
    }
    if (k.rules.switch_lets_irqs_in) {
      k.mem.irq_restore(cpu);
      k.mem.irq_save(cpu);
    }
    next_tlb_gen = k.mem.load(cpu, next.tlb_gen);
    ns = choose_new_asid(k, cpu, next, next_tlb_gen);

    if (!early_marker) k.mem.store(cpu, shared.loaded_mm, kLoadedMmSwitching);
  }

  k.mem.answered(cpu, asked, ns.asid << 1 | u64{ns.need_flush});
  if (ns.need_flush) tlb.ctxs[ns.asid] = {next.ctx_id, next_tlb_gen};
  load_new_mm_cr3(k, cpu, next, ns);
  // CR3 is written before loaded_mm says so.
  k.mem.store(cpu, shared.loaded_mm, next_id);
  tlb.loaded_mm_asid = ns.asid;
  if (has_global_asids(k)) k.mem.store(cpu, tlb.seen_asid, ns.asid);
}

/// `switch_mm()`, and `active_mm` where the era's handler asks it.
template <MemoryPolicy P>
void switch_mm(Kernel<P>& k, Cpu cpu, MmId next_id) {
  const u64 asked = k.mem.asks(cpu);
  u64& active_mm = k.guest.cpu_tlbstate[cpu].active_mm;
  if (k.rules.active_mm == ActiveMm::kChangedBeforeMm) k.mem.store(cpu, active_mm, next_id);
  IrqsOff irqs_off(k.mem, cpu);
  if (k.rules.active_mm == ActiveMm::kChangedWithMm) k.mem.store(cpu, active_mm, next_id);
  switch_mm_irqs_off(k, cpu, next_id);
  k.mem.answered(cpu, asked, 0);
}

/// A kernel thread, idle, or an exiting task borrows the loaded mm; the mask bit stays.
template <MemoryPolicy P>
void enter_lazy_tlb(Kernel<P>& k, Cpu cpu) {
  CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  if (k.mem.load(cpu, shared.loaded_mm) == kInitMm) return;
  k.mem.store(cpu, shared.is_lazy, 1);
}

/// Idle, or a temporary mm to come: leave the borrowed mm for `init_mm`.
template <MemoryPolicy P>
void leave_mm(Kernel<P>& k, Cpu cpu) {
  if (k.mem.load(cpu, k.guest.cpu_tlbstate_shared[cpu].loaded_mm) == kInitMm) return;
  switch_mm(k, cpu, kInitMm);
}

}  // namespace hvtlb
