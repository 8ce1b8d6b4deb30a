// What a host does with a flush hypercall.
#pragma once

#include <vector>

#include "host/hypercall_input.h"

namespace hvtlb::host {

/// The status codes that a flush can get (TLFS, appendix B). A guest sees the lower 16 bits of the
/// result; Linux takes anything but success as "go native".
inline constexpr u16 kSuccess = 0;
inline constexpr u16 kInvalidHypercallCode = 2;
inline constexpr u16 kInvalidHypercallInput = 3;
inline constexpr u16 kInvalidAlignment = 4;
inline constexpr u16 kInvalidParameter = 5;

/// Consecutive pages. `pages` counts 4 KiB pages, for large-page entries too.
struct Range {
  u64 start = 0;
  u64 pages = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// On an error everything but `status` (and `all_errors`) is empty, false and 0.
struct Reaction {
  u16 status = kSuccess;
  std::vector<u32> flushed;     ///< the VPs, ascending
  bool everything = false;      ///< the whole address space, not `ranges`
  std::vector<Range> ranges;    ///< in the order of the list; at most one an entry
  u32 reps_completed = 0;       ///< counted from rep 0
  std::vector<u16> all_errors;  ///< `tlfs` only: all that apply, ascending; `status` is the first
  friend bool operator==(const Reaction&, const Reaction&) = default;
};

inline Reaction refused(u16 status) {
  Reaction reaction;
  reaction.status = status;
  return reaction;
}

}  // namespace hvtlb::host
