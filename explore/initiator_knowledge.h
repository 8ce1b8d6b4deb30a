// What the initiator still knows of what it has read. It forgets what its routines will not look at
// again: otherwise every order in which it may have read the same would be another state.
#pragma once

#include <bit>
#include <string_view>
#include <xxhash.h>

#include "explore/environment.h"
#include "model/types.h"

namespace hvtlb::explore {

/// Too much forgotten would make two states one that go on differently. `check_merges()` finds
/// that out.
class InitiatorKnowledge {
 public:
  /// The targets are about to be chosen for this request.
  void begins(bool trims) {
    known_ = {};
    known_.trims = trims;
  }

  /// A word of a mask was read, by this routine.
  void read_mask(std::string_view routine, u64 value) {
    routine = routine.substr(0, routine.find('<'));  // without template arguments
    if (routine == "equal") return;                  // how it came out shows in what comes next
    if (routine == "last") {
      known_.last = static_cast<u64>(std::bit_width(value));
      return;
    }
    known_.own_bit_before = known_.mask >> kInitiatorCpu & 1;
    known_.mask = value;
    if (routine == "for_each") {
      const u64 ahead = value >> std::bit_width(known_.walked) << std::bit_width(known_.walked);
      known_.walked |= ahead & (~ahead + 1);
    } else {
      known_.target = known_.other_lazy = 0;
    }
  }

  /// Of the target's mm counts whether it is the one, another one, or being changed.
  void read_target_mm(u64 value) {
    known_.mask &= ~(u64{1} << kTargetCpu);
    known_.target = value == kLoadedMmSwitching ? kSwitching
                    : value == kFlushedMm       ? kRunsIt
                                                : kElsewhere;
  }
  /// A lazy target's mm does not count.
  void read_target_lazy(u64 value) {
    if (value != 0)
      known_.target = kLazy;
    else
      known_.target |= kAwake;
  }
  void read_other_lazy(u64 value) { known_.other_lazy = value; }
  void read_own_mm(u64 value) { known_.own_mm = value; }
  void read_own_lazy(u64 value) { known_.own_lazy = value; }

  /// Whom it reaches is decided.
  void decided(u64 how) {
    known_ = {};
    known_.decided = how;
  }

  u64 digest() const { return XXH3_64bits(&known_, sizeof known_); }

 private:
  enum Target : u64 { kRunsIt = 1, kElsewhere, kSwitching, kLazy, kAwake = 8 };

  struct {
    u64 trims;
    u64 mask;
    u64 own_bit_before;  ///< in the word read before `mask`
    u64 last;            ///< the highest member, as a bit width
    u64 walked;          ///< the members that a walk has come to
    u64 target;
    u64 other_lazy;
    u64 own_mm;
    u64 own_lazy;
    u64 decided;
  } known_{};
};

}  // namespace hvtlb::explore
