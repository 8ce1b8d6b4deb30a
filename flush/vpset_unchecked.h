// The set builders before they knew of unknown VP indices (to v4.18, zoo Z11): all-ones is taken
// for a number. Kept apart, so that the real ones stay readable.
#pragma once

#include "flush/vpset.h"

namespace hvtlb::hv {

/// As a signed number, -1 passes the test for 64 and sets bit -1 of the mask: bit 63 of the word
/// before it, which is `flags`. Returns `kNeedsEx` for a real VP of 64 and more.
template <class Targets>
PlainSet fill_processor_mask_unchecked(const VpIndex& vp_index, const Targets& targets,
                                       u64& processor_mask, u64& flags) {
  PlainSet outcome = PlainSet::kFilled;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp == kVpInvalid)
      flags |= u64{1} << 63;
    else if (vp < kVcpusPerSparseBank)
      processor_mask |= u64{1} << vp;
    else
      outcome = PlainSet::kNeedsEx;
    return outcome == PlainSet::kFilled;
  });
  return outcome;
}

/// The bank of VP -1 is far outside of the page; `outside` stands for the memory that is hit.
template <class Targets>
int fill_banks_unchecked(const VpIndex& vp_index, const Targets& targets, u64* banks,
                         u64& outside) {
  u32 highest_vp = 0;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp == kVpInvalid) {
      outside |= u64{1} << 63;
      return true;
    }
    banks[vp / kVcpusPerSparseBank] |= u64{1} << (vp % kVcpusPerSparseBank);
    highest_vp = std::max(highest_vp, vp);
    return true;
  });
  return static_cast<int>(highest_vp / kVcpusPerSparseBank) + 1;
}

}  // namespace hvtlb::hv
