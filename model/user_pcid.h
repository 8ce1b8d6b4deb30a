// Page-table isolation: user mode runs on a CR3 and a PCID of its own, which the kernel cannot
// flush while it is not loaded. A bit a PCID says that it is to be flushed on the way to user mode.
#pragma once

#include "model/kernel.h"

namespace hvtlb {

inline constexpr u64 kCr3NoFlush = u64{1} << 63;
inline constexpr u64 kCr3PcidMask = 0xfff;
inline constexpr u64 kCr3AddrMask = 0x000ffffffffff000;
inline constexpr u64 kCr3UserPcid = u64{1} << 11;  ///< X86_CR3_PTI_PCID_USER_BIT
inline constexpr u64 kCr3UserPgd = u64{1} << 12;   ///< the user's top page table is the next page

/// `kern_pcid()`: PCID 0 is for users that know nothing of PCIDs.
constexpr u64 kern_pcid(u64 asid) {
  return asid + 1;
}

/// `user_pcid()`.
constexpr u64 user_pcid(u64 asid) {
  return kern_pcid(asid) | kCr3UserPcid;
}

/// `invalidate_user_asid()`.
template <MemoryPolicy P>
void invalidate_user_asid(Kernel<P>& k, Cpu cpu, u64 asid) {
  if (!k.guest.pti || !k.guest.pcid) return;
  const u64 bit = k.rules.user_pcid_bit == UserPcidBit::kAsid ? asid : kern_pcid(asid);
  k.guest.cpu_tlbstate[cpu].user_pcid_flush_mask |= u64{1} << bit;
}

/// `SWITCH_TO_USER_CR3`: the last thing on the way to user mode.
template <MemoryPolicy P>
void switch_to_user_cr3(Kernel<P>& k, Cpu cpu, const Mm& loaded_mm) {
  CpuTlbState& tlb = k.guest.cpu_tlbstate[cpu];
  const u64 user_cr3 = loaded_mm.pgd | kCr3UserPgd | loaded_mm.lam_cr3_mask;
  if (!k.guest.pcid) return k.mem.write_cr3(cpu, user_cr3);
  const u64 pcid = kern_pcid(tlb.loaded_mm_asid);
  const u64 bit = u64{1} << pcid;
  const bool flush = (tlb.user_pcid_flush_mask & bit) != 0;
  tlb.user_pcid_flush_mask &= ~bit;
  k.mem.write_cr3(cpu, user_cr3 | pcid | kCr3UserPcid | (flush ? 0 : kCr3NoFlush));
}

/// `SWITCH_TO_KERNEL_CR3`: the first thing on the way back.
template <MemoryPolicy P>
void switch_to_kernel_cr3(Kernel<P>& k, Cpu cpu, const Mm& loaded_mm) {
  const u64 pcid = k.guest.pcid ? kern_pcid(k.guest.cpu_tlbstate[cpu].loaded_mm_asid) : 0;
  k.mem.write_cr3(cpu,
                  loaded_mm.pgd | loaded_mm.lam_cr3_mask | pcid | (k.guest.pcid ? kCr3NoFlush : 0));
}

}  // namespace hvtlb
