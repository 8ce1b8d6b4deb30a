// From CPUs to virtual processors: the two shapes in which a hypercall names its targets. A target
// list is anything with `for_each(visit)`, where `visit(cpu)` returns false to stop.
#pragma once

#include <algorithm>
#include <vector>

#include "flush/wire.h"
#include "model/guest.h"

namespace hvtlb::hv {

enum class PlainSet : u8 { kFilled, kEmpty, kNeedsEx, kInvalidVp };

/// Fills the 64-bit processor mask of a plain call.
template <class Targets>
PlainSet fill_processor_mask(const std::vector<u32>& vp_index, Targets&& targets,
                             u64& processor_mask) {
  PlainSet outcome = PlainSet::kFilled;
  u64 mask = 0;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp < kVcpusPerSparseBank) {
      mask |= u64{1} << vp;
      return true;
    }
    outcome = vp == kVpInvalid ? PlainSet::kInvalidVp : PlainSet::kNeedsEx;
    return false;
  });
  processor_mask = mask;
  return outcome == PlainSet::kFilled && mask == 0 ? PlainSet::kEmpty : outcome;
}

inline constexpr int kVpSetInvalid = -1;

/// `__cpumask_to_vpset()`: fills the bank words and returns how many there are, at least 1 and up
/// to the highest touched one, empty ones between included; `kVpSetInvalid` when a target has no VP
/// index; 0, with nothing written, when `hv_max_vp_index` is beyond 64 banks (zoo Z14). All banks
/// up to `hv_max_vp_index` are cleared first: the page still holds the previous call (zoo Z10).
/// REQUIRES: every valid VP index is below 4096 where `hv_max_vp_index` is.
template <class Targets>
int cpumask_to_vpset(const std::vector<u32>& vp_index, u32 hv_max_vp_index, Targets&& targets,
                     u64* banks) {
  const u32 max_vcpu_bank = hv_max_vp_index / kVcpusPerSparseBank;
  if (max_vcpu_bank >= kMaxSparseVcpuBanks) return 0;
  std::fill_n(banks, max_vcpu_bank + 1, 0);
  u32 highest_bank = 0;
  bool valid = true;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp == kVpInvalid) return valid = false;
    const u32 bank = vp / kVcpusPerSparseBank;
    banks[bank] |= u64{1} << (vp % kVcpusPerSparseBank);
    highest_bank = std::max(highest_bank, bank);
    return true;
  });
  return valid ? static_cast<int>(highest_bank) + 1 : kVpSetInvalid;
}

}  // namespace hvtlb::hv
