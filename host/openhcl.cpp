// OpenVMM's paravisor, the side that runs on SNP: the generic part of a call is
// vm/hv1/hv1_hypercall/src/support.rs dispatch_inner(), the flush itself imp.rs there and
// openhcl/virt_mshv_vtl/src/processor/{hardware_cvm,snp}/mod.rs.
#include "host/call_shape.h"
#include "host/gva_entry.h"
#include "host/hosts.h"
#include "host/vp_set.h"

namespace hvtlb::host {
namespace {

/// More entries than this, or more pages beyond the first in any entry, and it flushes everything.
constexpr u32 kOpenhclMostEntries = 16;
constexpr u64 kMostAdditionalPages = 16;

/// dispatch_inner() up to the call of the handler: the status, or success.
u16 check_call(Control control, CallShape shape, const Input& input) {
  if (!shape.vp_set && control.variable_header_words() != 0) return kInvalidHypercallInput;
  if (shape.list) {
    if (control.rep_start() >= control.rep_count()) return kInvalidHypercallInput;
  } else if (control.rep_count() != 0 || control.rep_start() != 0) {
    return kInvalidHypercallInput;
  }
  const std::size_t bytes = declared_bytes(shape, control);
  if (!input.fast()) {
    if (bytes > kGuestPage - input.gpa_offset()) return kInvalidHypercallInput;  // Straddle
    if (input.gpa_offset() % 8 != 0) return kInvalidAlignment;
  }
  // The whole input is read at once: 112 bytes of registers (TooBigForFast) or memory (Access).
  return input.holds(0, bytes) ? kSuccess : kInvalidHypercallInput;
}

/// The set, by ProcessorSet::from_processor_masks(). False when it refuses.
bool read_set(Control control, CallShape shape, const Input& input, VpSet& set) {
  if (!shape.vp_set) {
    set.name(0, input.word(kProcessorMaskAt));
    return true;
  }
  if (input.word(kSetFormatAt) != kFormatSparse) return false;  // "all" is refused as well
  const u64 bank_mask = input.word(kBankMaskAt);
  return control.variable_header_words() == static_cast<u32>(std::popcount(bank_mask)) &&
         set.name_banks(input, kBanksAt, bank_mask);
}

/// flush_virtual_address_list_ex(): the ranges, or everything when they are too much work.
void flush_list(Control control, CallShape shape, const Input& input, bool extended,
                Reaction& reaction) {
  const u32 first = control.rep_start();
  const std::size_t list_at =
      shape.header_bytes() + 8 * std::size_t{control.variable_header_words()};
  reaction.everything = control.rep_count() - first > kOpenhclMostEntries;
  if (!reaction.everything) reaction.ranges.reserve(control.rep_count() - first);
  for (u32 rep = first; rep < control.rep_count() && !reaction.everything; ++rep) {
    const u64 entry = input.word(list_at + 8 * std::size_t{rep});
    const u64 additional = extended ? extended_additional(entry) : plain_range(entry).pages - 1;
    if (additional > kMostAdditionalPages) reaction.everything = true;
    reaction.ranges.push_back(extended ? extended_range(entry) : plain_range(entry));
  }
  if (reaction.everything) reaction.ranges.clear();
}

}  // namespace

Reaction react_openhcl(const Call& call) {
  const Control control = call.control;
  const Input& input = call.input;
  const auto shape = shape_of(control.code());
  if (!shape) return refused(kInvalidHypercallCode);
  if (const u16 status = check_call(control, *shape, input); status != kSuccess)
    return refused(status);

  VpSet set;
  if (!read_set(control, *shape, input, set)) return refused(kInvalidParameter);
  // hcvm_validate_flush_inputs(). Address space and "all address spaces" are not looked at.
  const u64 flags = input.word(kFlagsAt);
  const u64 allowed = shape->list ? kFlagsDefined : kFlagsDefined & ~kFlagExtendedRanges;
  if ((flags & ~allowed) != 0) return refused(kInvalidParameter);
  if (set.empty() && (flags & kFlagAllVps) == 0) return refused(kInvalidParameter);

  Reaction reaction;
  if ((flags & kFlagAllVps) != 0) set.name_all();
  reaction.flushed = set.among(call.existing_vps);
  reaction.reps_completed = control.rep_count();
  if (shape->list)
    flush_list(control, *shape, input, (flags & kFlagExtendedRanges) != 0, reaction);
  else
    reaction.everything = true;
  return reaction;
}

}  // namespace hvtlb::host
