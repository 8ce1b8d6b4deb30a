// Linux's KVM as a Hyper-V host: arch/x86/kvm/hyperv.c of Linux 6.12, kvm_hv_hypercall() and
// kvm_hv_flush_tlb(), check by check in their order.
#include <algorithm>

#include "host/call_shape.h"
#include "host/gva_entry.h"
#include "host/hosts.h"
#include "host/vp_set.h"

namespace hvtlb::host {
namespace {

/// KVM_HV_TLB_FLUSH_FIFO_SIZE - 1: one place stays free for "everything".
constexpr u32 kKvmMostEntries = 15;
/// KVM_HV_TLB_FLUSHALL_ENTRY: a guest that sends it as an entry asks for everything.
constexpr u64 kFlushAllEntry = ~u64{0};

/// kvm_hv_hypercall(): what it tests before it looks at the input. True when it refuses.
bool refuses_control(Control control, CallShape shape) {
  if (!shape.vp_set && control.variable_header_words() != 0) return true;
  if (shape.list) return control.rep_count() == 0 || control.rep_start() != 0;
  return control.rep_count() != 0 || control.rep_start() != 0;
}

/// kvm_hv_vcpu_flush_tlb(): what a VP does with the entries that were queued for it. Flags are not
/// looked at, so extended entries are taken for plain ones.
void flush_entries(const Input& input, std::size_t at, u32 count, const Faults& faults,
                   Reaction& reaction) {
  reaction.ranges.reserve(count);
  for (u32 entry = 0; entry < count; ++entry, at += 8) {
    const u64 value = input.word(at);
    if (value == kFlushAllEntry) {
      reaction.everything = true;
      reaction.ranges.clear();
      return;
    }
    // is_noncanonical_invlpg_address(): skipped since CVE-2025-38351, the rest still counts.
    if (canonical(value) || faults.non_canonical_passed)
      reaction.ranges.push_back(plain_range(value));
    else if (faults.non_canonical_stops)
      return;
  }
}

}  // namespace

Reaction react_kvm(const Call& call) {
  const Control control = call.control;
  const Input& input = call.input;
  // HV_HYPERCALL_RSVD_MASK includes bit 31, and is tested before the call code.
  if (control.reserved() || control.nested()) return refused(kInvalidHypercallInput);
  const auto shape = shape_of(control.code());
  if (!shape) return refused(kInvalidHypercallCode);
  if (refuses_control(control, *shape)) return refused(kInvalidHypercallInput);
  if (!input.holds(0, shape->header_bytes())) return refused(kInvalidHypercallInput);

  Reaction reaction;
  reaction.reps_completed = control.rep_count();
  VpSet set;
  std::size_t list_at = shape->header_bytes();
  if (shape->vp_set) {
    const u64 bank_mask = input.word(kBankMaskAt);
    const u32 words = control.variable_header_words();
    if (words != static_cast<u32>(std::popcount(bank_mask))) return refused(kInvalidHypercallInput);
    if (words == 0 && call.faults.all_needs_banks) return reaction;
    if (input.word(kSetFormatAt) != kFormatSparse) {
      set.name_all();  // any other format; the flag "all processors" is not looked at
    } else {
      if (words == 0) return reaction;  // success, before the list is read
      if (!set.name_banks(input, kBanksAt, bank_mask)) return refused(kInvalidHypercallInput);
    }
    const bool all_format = input.word(kSetFormatAt) != kFormatSparse;
    if (!(all_format && call.faults.list_behind_header)) list_at += 8 * std::size_t{words};
  } else {
    const u64 mask = input.word(kProcessorMaskAt);
    // An empty mask means everyone: a workaround for Windows Server 2012.
    if ((input.word(kFlagsAt) & kFlagAllVps) != 0 || mask == 0) set.name_all();
    set.name(0, mask);
  }

  const bool long_list = control.rep_count() > kKvmMostEntries && !call.faults.long_list_cut;
  const u32 entries = std::min(control.rep_count(), kKvmMostEntries);
  if (!shape->list || long_list) {
    reaction.everything = true;  // and a long list is not read, so that it need not be there
  } else {
    // kvm_hv_get_hc_data(): in registers as in memory, all entries or none.
    if (!input.holds(list_at, 8 * std::size_t{entries})) return refused(kInvalidHypercallInput);
    flush_entries(input, list_at, entries, call.faults, reaction);
  }
  reaction.flushed = set.among(call.existing_vps);
  return reaction;
}

}  // namespace hvtlb::host
