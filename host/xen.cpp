// Xen's viridian: xen/arch/x86/hvm/viridian/viridian.c, hvcall_flush() and hvcall_flush_ex(). It
// looks at little: reserved bits, reps, the variable header, alignment, flags but one, the address
// space and the list do not matter.
#include "host/call_shape.h"
#include "host/hosts.h"
#include "host/vp_set.h"

namespace hvtlb::host {

Reaction react_xen(const Call& call) {
  const Input& input = call.input;
  const auto shape = shape_of(call.control.code());
  if (!shape) return refused(kInvalidHypercallCode);
  if (input.fast()) return refused(kInvalidParameter);
  if (!input.holds(0, shape->header_bytes())) return refused(kInvalidParameter);

  VpSet set;
  const bool all_flag = (input.word(kFlagsAt) & kFlagAllVps) != 0;
  if (!shape->vp_set) {
    if (all_flag) set.name_all();
    set.name(0, input.word(kProcessorMaskAt));
  } else if (all_flag || input.word(kSetFormatAt) == kFormatAll) {
    set.name_all();  // before hv_vpset_to_vpmask(): no format is refused, no bank is read
  } else {
    if (input.word(kSetFormatAt) != kFormatSparse) return refused(kInvalidParameter);
    if (!set.name_banks(input, kBanksAt, input.word(kBankMaskAt)))
      return refused(kInvalidParameter);
  }

  Reaction reaction;
  reaction.flushed = set.among(call.existing_vps);
  if (call.faults.vps_unbounded && !set.all()) reaction.flushed = set.named();
  reaction.everything = true;  // paging_flush_tlb() knows no ranges
  reaction.reps_completed = call.control.rep_count();
  return reaction;
}

}  // namespace hvtlb::host
