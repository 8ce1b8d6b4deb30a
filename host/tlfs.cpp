// The specification itself: TLFS 6.0b, chapters "Hypercall Interface" and "Virtual MMU", and what
// follows from their words where they are silent (docs/hosts.md). It leaves the order of the checks
// open, so every error that applies is collected; the smallest is the status.
#include "host/call_shape.h"
#include "host/gva_entry.h"
#include "host/hosts.h"
#include "host/vp_set.h"

namespace hvtlb::host {
namespace {

class Errors {
 public:
  void add_if(bool applies, u16 status) { bits_ |= static_cast<u32>(applies) << status; }
  [[nodiscard]] bool any() const { return bits_ != 0; }
  [[nodiscard]] Reaction reaction() const {
    Reaction reaction;
    for (u16 status = 0; status < 32; ++status)
      if ((bits_ >> status & 1) != 0) reaction.all_errors.push_back(status);
    if (any()) reaction.status = reaction.all_errors.front();
    return reaction;
  }

 private:
  u32 bits_ = 0;
};

void check_control(Control control, CallShape shape, Errors& errors) {
  errors.add_if(!shape.vp_set && control.variable_header_words() != 0, kInvalidHypercallInput);
  if (shape.list)
    errors.add_if(control.rep_start() >= control.rep_count(), kInvalidHypercallInput);
  else
    errors.add_if(control.rep_count() != 0 || control.rep_start() != 0, kInvalidHypercallInput);
}

void check_place(const Input& input, std::size_t bytes, Errors& errors) {
  if (!input.fast()) {
    errors.add_if(bytes > kGuestPage - input.gpa_offset(), kInvalidAlignment);
    errors.add_if(input.gpa_offset() % 8 != 0, kInvalidAlignment);
  }
  errors.add_if(!input.holds(0, bytes), kInvalidHypercallInput);
}

/// CR3 holds a physical address of at most 52 bits, PCID or cache bits below it, nothing above.
bool is_cr3_value(u64 address_space) {
  return address_space >> 52 == 0;
}

void check_flags(CallShape shape, u64 flags, u64 address_space, Errors& errors) {
  const u64 allowed = kFlagsDefined & ~(shape.list ? kFlagNonGlobalOnly : kFlagExtendedRanges);
  errors.add_if((flags & ~allowed) != 0, kInvalidParameter);
  errors.add_if((flags & kFlagAllSpaces) == 0 && !is_cr3_value(address_space), kInvalidParameter);
}

/// Who is named. An empty set is an error unless the flag names everyone.
VpSet read_set(Control control, CallShape shape, const Input& input, bool all_flag,
               Errors& errors) {
  VpSet set;
  if (all_flag) set.name_all();
  if (!shape.vp_set) {
    set.name(0, input.word(kProcessorMaskAt));
    errors.add_if(set.empty(), kInvalidParameter);
    return set;
  }
  const u64 format = input.word(kSetFormatAt);
  if (format == kFormatAll) {
    set.name_all();  // the banks mean nothing then, nor does their number
    return set;
  }
  const u64 bank_mask = input.word(kBankMaskAt);
  errors.add_if(format != kFormatSparse, kInvalidParameter);
  errors.add_if(control.variable_header_words() != static_cast<u32>(std::popcount(bank_mask)),
                kInvalidParameter);
  // Banks that are not there are the place's error; whether they name anyone is not known then.
  if (set.name_banks(input, kBanksAt, bank_mask)) errors.add_if(set.empty(), kInvalidParameter);
  return set;
}

std::vector<Range> read_list(Control control, CallShape shape, const Input& input, bool extended) {
  std::vector<Range> ranges;
  ranges.reserve(control.rep_count() - control.rep_start());
  const std::size_t list_at =
      shape.header_bytes() + 8 * std::size_t{control.variable_header_words()};
  for (u32 rep = control.rep_start(); rep < control.rep_count(); ++rep) {
    const u64 entry = input.word(list_at + 8 * std::size_t{rep});
    const Range range = extended ? extended_range(entry) : plain_range(entry);
    if (canonical(range.start)) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

Reaction react_tlfs(const Call& call) {
  const Control control = call.control;
  const Input& input = call.input;
  Errors errors;
  errors.add_if(control.reserved(), kInvalidHypercallInput);
  const auto shape = shape_of(control.code());
  errors.add_if(!shape, kInvalidHypercallCode);
  if (!shape) return errors.reaction();

  check_control(control, *shape, errors);
  check_place(input, declared_bytes(*shape, control), errors);
  if (!input.holds(0, shape->header_bytes())) return errors.reaction();
  const u64 flags = input.word(kFlagsAt);
  check_flags(*shape, flags, input.word(kAddressSpaceAt), errors);
  const VpSet set = read_set(control, *shape, input, (flags & kFlagAllVps) != 0, errors);
  if (errors.any()) return errors.reaction();

  Reaction reaction;
  reaction.flushed = set.among(call.existing_vps);
  reaction.everything = !shape->list;
  reaction.reps_completed = control.rep_count();
  if (shape->list)
    reaction.ranges = read_list(control, *shape, input, (flags & kFlagExtendedRanges) != 0);
  return reaction;
}

}  // namespace hvtlb::host
