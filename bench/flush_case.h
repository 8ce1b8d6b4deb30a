// One measured flush: a guest of so many CPUs, a mask, a VP numbering, a request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/flush_tlb_info.h"
#include "model/guest.h"

namespace hvtlb::bench {

enum class MaskShape : u8 {
  kFull,           ///< every CPU but the last; all have the mm loaded: the set is encoded in full
  kHalfLazy,       ///< the same members, half of them lazy, others at every flush
  kSparse,         ///< one CPU of eight
  kAllProcessors,  ///< every CPU: one flag instead of a set, where the builder notices
};
inline constexpr MaskShape kMaskShapes[] = {MaskShape::kFull, MaskShape::kHalfLazy,
                                            MaskShape::kSparse, MaskShape::kAllProcessors};

enum class VpNumbering : u8 {
  kIdentity,   ///< VP n = CPU n
  kScattered,  ///< a permutation
};
inline constexpr VpNumbering kVpNumberings[] = {VpNumbering::kIdentity, VpNumbering::kScattered};

std::string_view name_of(MaskShape shape);
std::string_view name_of(VpNumbering vps);

/// `32/full/identity`: what the names of the benchmarks end in.
std::string case_name(u32 nr_cpus, MaskShape shape, VpNumbering vps);

/// The state that a flush decision looks at, and a request for one page by CPU 0.
class FlushCase {
 public:
  FlushCase(u32 nr_cpus, MaskShape shape, VpNumbering vps);

  /// Before every flush: other CPUs are lazy than last time. A branch predictor would learn one
  /// state by heart within a benchmark, and no flush on a real machine meets the same state twice.
  void next_state() {
    if (states_.empty()) return;
    guest.cpu_tlbstate_shared.swap(states_[next_]);
    next_ = next_ + 1 == states_.size() ? 0 : next_ + 1;
  }

  Guest guest;
  MmId mm;
  FlushTlbInfo info;

 private:
  std::vector<std::vector<CpuTlbStateShared>> states_;  // beside the guest's; none: always the same
  std::size_t next_ = 0;
};

}  // namespace hvtlb::bench
