// Global ASIDs (v6.15, CPUs with INVLPGB): an mm that flushes often gets one ASID for all CPUs,
// which broadcasts keep up to date.
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

/// `use_global_asid()`: the mm moves to an ASID of its own, and every CPU that runs it follows at
/// its next flush or switch. ASIDs are not used again; when all are taken the mm stays as it is.
/// REQUIRES: has_global_asids().
template <MemoryPolicy P>
void use_global_asid(Kernel<P>& k, Cpu self, MmId mm_id) {
  IrqsOff irqs_off(k.mem, self);
  u64& lock = k.guest.global_asid_lock;
  while (k.mem.cmpxchg(self, lock, 0, 1) != 0) k.mem.wait_while(self, lock, 1);
  Mm& mm = k.guest.mm(mm_id);
  const u64 asid = k.mem.load(self, k.guest.last_global_asid) + 1;
  if (k.mem.load(self, mm.global_asid) == 0 && asid <= kMaxGlobalAsid) {
    k.mem.store(self, k.guest.last_global_asid, asid);
    // Whoever sees the ASID has to see the transition.
    const bool asid_first = k.rules.asid_publication == AsidPublication::kAsidFirst;
    if (asid_first) k.mem.store(self, mm.global_asid, asid);
    k.mem.store(self, mm.asid_transition, 1);
    if (!asid_first) k.mem.store(self, mm.global_asid, asid);
  }
  k.mem.store(self, lock, 0);
}

/// Whether a CPU of the mask has the mm loaded under another ASID than its global one.
template <MemoryPolicy P>
bool finds_straggler(Kernel<P>& k, Cpu self, const Mm& mm, MmId mm_id, u64 global_asid) {
  bool found = false;
  for_each_cpu(k.mem, self, mm.cpumask, [&](Cpu cpu) {
    const u64& loaded_mm = k.guest.cpu_tlbstate_shared[cpu].loaded_mm;
    // A CPU in the middle of a switch may come to the mm with the ASID that it has read before.
    if (k.rules.asid_scan == AsidScan::kWaits)
      k.mem.wait_while(self, loaded_mm, kLoadedMmSwitching);
    if (k.mem.load(self, loaded_mm) != mm_id) return true;
    found = k.mem.load(self, k.guest.cpu_tlbstate[cpu].seen_asid) != global_asid;
    return !found;
  });
  return found;
}

/// `finish_asid_transition()`: moves stragglers over by IPI, or ends the transition.
template <MemoryPolicy P>
void finish_asid_transition(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  Mm& mm = k.guest.mm(info.mm);
  const u64 global_asid = k.mem.load(self, mm.global_asid);
  if (!mm_in_asid_transition(k, self, info)) return;
  if (finds_straggler(k, self, mm, info.mm, global_asid))
    flush_tlb_multi(k, self, mm.cpumask, info);
  else
    k.mem.store(self, mm.asid_transition, 0);
}

/// `broadcast_tlb_flush()`: the broadcast runs while the transition is looked after.
template <MemoryPolicy P>
void broadcast_tlb_flush(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  const u64 asid = k.mem.load(self, k.guest.mm(info.mm).global_asid);
  const AddressRange range = covered_range(info);
  k.mem.invlpgb(self, {.pcid = kern_pcid(asid), .range = range});
  if (k.guest.pti) k.mem.invlpgb(self, {.pcid = user_pcid(asid), .range = range});
  finish_asid_transition(k, self, info);
  k.mem.tlbsync(self);
}

}  // namespace hvtlb
