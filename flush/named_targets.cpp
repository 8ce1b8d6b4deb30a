#include "flush/named_targets.h"

#include <bit>

namespace hvtlb {
namespace {

void append_vps(u64 word, u32 first, std::vector<u32>& vps) {
  for (; word != 0; word &= word - 1)
    vps.push_back(first + static_cast<u32>(std::countr_zero(word)));
}

}  // namespace

void NamedTargetsHost::call(u64 control, std::span<const u64> input, HostEffect& effect) {
  const u16 code = hv::call_code(control);
  const u32 reps = hv::rep_count(control);
  effect.result = hv::result_word(status, status == hv::kStatusSuccess ? reps : 0);
  if (status != hv::kStatusSuccess) return;

  const u64 flags = input[hv::kFlagsWord];
  effect.address_space = (flags & hv::kFlushAllVirtualAddressSpaces) != 0
                             ? kTlbFlushAll
                             : input[hv::kAddressSpaceWord];
  u32 at = hv::kPlainHeader;
  if (hv::is_ex(code)) {
    at = hv::kExHeader;
    for (u64 valid = input[hv::kValidBankMaskWord]; valid != 0; valid &= valid - 1)
      append_vps(input[at++], 64 * static_cast<u32>(std::countr_zero(valid)), effect.vps);
  } else if ((flags & hv::kFlushAllProcessors) != 0) {
    effect.all_vps = true;
  } else {
    append_vps(input[hv::kProcessorMaskWord], 0, effect.vps);
  }
  if (!hv::is_list(code)) return;
  effect.everything = false;
  for (u32 rep = hv::rep_start(control); rep < reps; ++rep) {
    const u64 start = input[at + rep] & kPageMask;
    const u64 end = start + ((input[at + rep] & ~kPageMask) + 1) * kPageSize;
    effect.ranges.push_back({start, end < start ? kTlbFlushAll : end});
  }
}

}  // namespace hvtlb
