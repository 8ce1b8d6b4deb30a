// Whom one flush ought to reach, and which way it may take, by the words of the specification: set
// by set, with none of the builder's code.
#pragma once

#include <bitset>

#include "model/flush_tlb_info.h"
#include "model/guest.h"
#include "model/rules.h"

namespace hvtlb::fuzz {

/// A set of CPUs without memory of its own: allocations are what a round trip would spend its time
/// on.
using CpuSet = std::bitset<192>;

template <class Words>
CpuSet set_of(const Words& words) {
  CpuSet set;
  for (u32 at = static_cast<u32>(words.size()); at-- > 0;) set = set << 64 | CpuSet(words[at]);
  return set;
}

struct Intent {
  /// REQUIRES: a guest of at most 192 CPUs.
  Intent(const Guest& guest, const Rules& rules, const FlushTlbInfo& info, MmId mask_of);

  CpuSet named;              ///< whom the call has to name
  CpuSet native;             ///< whom the native path has to reach
  bool trims = false;        ///< the fix must go native, so that handlers clear bits
  bool native_trim = false;  ///< the trim flag that handlers see then

  bool cannot_name = false;  ///< a target's VP is unknown, or needs an EX call that may not be made

  bool may_be_native() const { return trims || cannot_name; }
};

}  // namespace hvtlb::fuzz
