// Hyper-V's flush by hypercall: arch/x86/hyperv/mmu.c, and the fix under review.
#pragma once

#include "flush/gva_list.h"
#include "flush/native.h"
#include "flush/targets.h"
#include "flush/vpset_unchecked.h"
#include "model/kernel.h"

namespace hvtlb {

/// `hv_do_rep_hypercall()`: repeats a list call until all entries are done; a simple call is one
/// round. Returns the status. A host that answers success without progress would keep the kernel in
/// this loop for ever; here it ends, and the caller of the policy sees the incomplete result.
template <MemoryPolicy P>
u16 hv_do_rep_hypercall(Kernel<P>& k, Cpu self, u64 control, std::span<const u64> input) {
  for (;;) {
    const u64 result = k.mem.hypercall(self, control, input);
    const u32 done = hv::result_reps_completed(result);
    if (hv::result_status(result) != hv::kStatusSuccess || done >= hv::rep_count(control))
      return hv::result_status(result);
    if (done <= hv::rep_start(control)) return hv::kStatusInvalidParameter;
    control = hv::with_rep_start(control, done);
  }
}

/// Whether a range of so many bytes is more than a list of `max_gvas` entries names.
constexpr bool too_long_for_list(u64 bytes, u64 max_gvas, ListCapacity capacity) {
  const u64 units = bytes / hv::kTlbFlushUnit;
  switch (capacity) {
    case ListCapacity::kFloor: return units > max_gvas;
    case ListCapacity::kCeiling: return units + (bytes % hv::kTlbFlushUnit != 0) > max_gvas;
    case ListCapacity::kBoolean: return static_cast<u64>(units != 0) > max_gvas;
  }
  return true;
}

/// Chooses the range's form and makes the call: the whole space, or a list behind `header` words.
template <MemoryPolicy P>
u16 hyperv_call(Kernel<P>& k, Cpu self, HypercallInputPage& page, const FlushTlbInfo& info, bool ex,
                u32 nr_bank) {
  const u32 header = (ex ? hv::kExHeader : hv::kPlainHeader) + nr_bank;
  const u64 max_gvas = HypercallInputPage::kBytes / sizeof(u64) - header;
  const u16 space = ex ? hv::kFlushVirtualAddressSpaceEx : hv::kFlushVirtualAddressSpace;
  const u16 list = ex ? hv::kFlushVirtualAddressListEx : hv::kFlushVirtualAddressList;
  u64 control = 0;
  if (info.end == kTlbFlushAll) {
    page.words[hv::kFlagsWord] |= hv::kFlushNonGlobalMappingsOnly;
    control = hv::control_word(space, 0, nr_bank);
  } else if (info.end != 0 &&
             too_long_for_list(info.end - info.start, max_gvas, k.rules.hv_list_capacity)) {
    control = hv::control_word(space, 0, nr_bank);
  } else {
    const u32 entries = hv::fill_gva_list(std::span(page.words).subspan(header), info.start,
                                          info.end, k.rules.hv_gva_tail);
    control = hv::control_word(list, entries, nr_bank);
  }
  return hv_do_rep_hypercall(k, self, control, page.words);
}

/// Writes the two words that both forms share: whose address space, and the flags.
inline void fill_flush_header(HypercallInputPage& page, const Guest& guest,
                              const FlushTlbInfo& info) {
  page.words[hv::kAddressSpaceWord] = info.has_mm ? guest.mm(info.mm).pgd & kCr3AddrMask : 0;
  page.words[hv::kFlagsWord] = info.has_mm ? 0 : hv::kFlushAllVirtualAddressSpaces;
}

/// `hyperv_flush_tlb_others_ex()`. Returns the status; without the hint, or with a target whose VP
/// is unknown, nothing is called.
template <MemoryPolicy P, class Targets>
u16 hyperv_flush_tlb_others_ex(Kernel<P>& k, Cpu self, HypercallInputPage& page, Targets& targets,
                               const FlushTlbInfo& info) {
  if (!k.guest.ex_processor_masks_recommended) return hv::kStatusInvalidParameter;
  fill_flush_header(page, k.guest, info);
  page.words[hv::kSetFormatWord] = hv::kGenericSetSparse4k;
  page.words[hv::kValidBankMaskWord] = 0;
  u64* const bank_words = &page.words[hv::kExHeader];
  int nr_bank = hv::cpumask_to_vpset(k.guest.vp_index, k.guest.hv_max_vp_index, targets, bank_words,
                                     k.rules.hv_bank_clearing);
  if (nr_bank < 0 && k.rules.hv_invalid_vp == InvalidVp::kUnchecked)
    nr_bank = hv::fill_banks_unchecked(k.guest.vp_index, targets, bank_words, page.words.back());
  if (nr_bank < 0) return hv::kStatusInvalidParameter;
  if (nr_bank == 0 && k.rules.hv_empty_vpset == EmptyVpset::kNative)
    return hv::kStatusInvalidParameter;
  if (nr_bank == 1 && bank_words[0] == 0 && k.rules.hv_ex_nobody_returns) return hv::kStatusSuccess;
  const u32 banks = static_cast<u32>(nr_bank);
  if (banks != 0) page.words[hv::kValidBankMaskWord] = ~u64{0} >> (64 - banks);
  return hyperv_call(k, self, page, info, true, banks);
}

/// The hypercall for these targets; those of an EX call are walked as `ex_targets`. Returns whether
/// the flush is done.
template <MemoryPolicy P, class Targets>
bool hyperv_flush_targets(Kernel<P>& k, Cpu self, HypercallInputPage& page, Targets targets,
                          Targets ex_targets, const FlushTlbInfo& info) {
  fill_flush_header(page, k.guest, info);
  page.words[hv::kProcessorMaskWord] = 0;
  bool ex = false;
  if (targets.equal(k.guest.cpu_present_mask)) {
    page.words[hv::kFlagsWord] |= hv::kFlushAllProcessors;
  } else {
    // The last CPU's VP tells soonest that a plain call will not do; an unknown one does not count,
    // the walk finds it. The live mask may be empty by now: then there is no last CPU (zoo Z12).
    const Cpu last = targets.last();
    if (last >= k.guest.nr_cpus && k.rules.hv_empty_live_mask == EmptyLiveMask::kLastUnchecked)
      k.mem.read_behind(self, "vp_index");
    ex = last < k.guest.nr_cpus && k.guest.vp_index[last] != kVpInvalid &&
         k.guest.vp_index[last] >= hv::kVcpusPerSparseBank;
    if (!ex) {
      u64& processor_mask = page.words[hv::kProcessorMaskWord];
      auto set = hv::fill_processor_mask(k.guest.vp_index, targets, processor_mask);
      if (set == hv::PlainSet::kInvalidVp && k.rules.hv_invalid_vp == InvalidVp::kUnchecked)
        set = hv::fill_processor_mask_unchecked(k.guest.vp_index, targets, processor_mask,
                                                page.words[hv::kFlagsWord]);
      switch (set) {
        case hv::PlainSet::kFilled: break;
        case hv::PlainSet::kEmpty: return true;
        case hv::PlainSet::kInvalidVp: return false;
        case hv::PlainSet::kNeedsEx: ex = true; break;
      }
      if (ex && !k.rules.hv_fallback_restores_irqs) {
        k.mem.irq_save(self);  // zoo Z39: nobody turns them on again
        return false;
      }
    }
  }
  const u16 status = ex ? hyperv_flush_tlb_others_ex(k, self, page, ex_targets, info)
                        : hyperv_call(k, self, page, info, false, 0);
  return status == hv::kStatusSuccess;
}

/// Filtered targets whose format is chosen by the mask as passed (`hv_format_from`).
template <MemoryPolicy P>
struct FormatFromMask {
  LiveTargets<P> mask;
  PrivateTargets targets;

  bool equal(std::span<const u64> other) const { return mask.equal(other); }
  Cpu last() const { return mask.last(); }
  template <class Visit>
  void for_each(Visit visit) const {
    targets.for_each(visit);
  }
  template <class Visit>
  void for_each_word(Visit visit) const {
    targets.for_each_word(visit);
  }
};

/// The fix: filter the mask with the native predicate before anything is chosen from it. Returns
/// whether the flush is done; otherwise go native, with `info.trim_cpumask` set when the flush
/// found nobody else to reach and the stale bits should go.
template <MemoryPolicy P>
bool hyperv_flush_filtered(Kernel<P>& k, Cpu self, std::span<const u64> cpus, FlushTlbInfo& info) {
  IrqsOff irqs_off(k.mem, self);
  HypercallInputPage* page = k.guest.input_page(self);
  if (page == nullptr) return false;
  if (k.rules.hv_trim_round_native && (info.trim_cpumask || mm_in_asid_transition(k, self, info)))
    return false;

  std::vector<u64>& words = k.guest.scratch_mask(self);
  const bool unfiltered = info.freed_tables && k.rules.freed_tables == FreedTables::kReachLazy;
  const bool remote = filter_targets(k, self, cpus, info, unfiltered, words);
  const PrivateTargets targets{words, k.guest.nr_cpus};
  if (info.freed_tables && targets.last() >= k.guest.nr_cpus) return true;
  if (!remote && !info.freed_tables && k.rules.hv_immediate_trim) {
    info.trim_cpumask = info.has_mm;
    if (info.has_mm && k.rules.hv_immediate_trim_rewrites_next_trim)
      k.mem.store(self, k.guest.mm(info.mm).next_trim_cpumask, k.guest.jiffies + k.guest.hz);
    return false;
  }
  if (k.rules.hv_format_from == HypervFormatFrom::kMask) {
    const FormatFromMask<P> both{{k, self, cpus, LeaveOut::kNobody}, targets};
    return hyperv_flush_targets(k, self, *page, both, both, info);
  }
  return hyperv_flush_targets(k, self, *page, targets, targets, info);
}

/// Whom the walk of one form leaves out. `forgotten_in`: the half-fix that forgets to ask here.
inline LeaveOut left_out(const Rules& rules, const FlushTlbInfo& info,
                         HypervLazySkip forgotten_in) {
  const bool everybody = info.freed_tables && rules.freed_tables == FreedTables::kReachLazy;
  if (rules.hv_targets != HypervTargets::kNotLazy || everybody) return LeaveOut::kNobody;
  if (rules.hv_lazy_skip == forgotten_in) return LeaveOut::kNobody;
  return rules.hv_lazy_skip == HypervLazySkip::kInverted ? LeaveOut::kNotLazy : LeaveOut::kLazy;
}

/// The builder before the fix. Returns whether the flush is done.
template <MemoryPolicy P>
bool hyperv_flush_unfiltered(Kernel<P>& k, Cpu self, std::span<const u64> cpus,
                             const FlushTlbInfo& info) {
  IrqsOff irqs_off(k.mem, self);
  HypercallInputPage* page = k.guest.input_page(self);
  if (page == nullptr) return false;
  const LiveTargets<P> plain{k, self, cpus, left_out(k.rules, info, HypervLazySkip::kExOnly)};
  const LiveTargets<P> ex{k, self, cpus, left_out(k.rules, info, HypervLazySkip::kPlainOnly)};
  return hyperv_flush_targets(k, self, *page, plain, ex, info);
}

/// `hyperv_flush_tlb_multi()`. Whatever stops the hypercall, its status included, ends in the
/// native path over the whole mask.
template <MemoryPolicy P>
void hyperv_flush_tlb_multi(Kernel<P>& k, Cpu self, std::span<const u64> cpus,
                            const FlushTlbInfo& info) {
  FlushTlbInfo native = info;
  if (k.guest.hypercall_page) {
    const bool done = k.rules.hv_targets == HypervTargets::kNativePredicate
                          ? hyperv_flush_filtered(k, self, cpus, native)
                          : hyperv_flush_unfiltered(k, self, cpus, info);
    if (done) return;
  }
  native_flush_tlb_multi(k, self, cpus, native);
}

}  // namespace hvtlb
