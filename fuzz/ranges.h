// Ranges for flushes: every border that the request's code and the list builder's have, and nothing
// that no guest can ask for (addresses that are not canonical).
#pragma once

#include "model/flush_tlb_info.h"

namespace hvtlb::fuzz {

inline constexpr u64 kPages = 0x7f0000000000;       ///< somewhere in user space, 16 MiB aligned
inline constexpr u64 kUserTop = 0x800000000000;     ///< the end of user space
inline constexpr u64 kListUnit = 4096 * kPageSize;  ///< what one list entry names: 16 MiB

/// Lengths in list entries: one and two, and around what a page holds of them behind 0, 1, 2 and 61
/// banks.
inline constexpr u64 kListUnits[] = {0, 1, 2, 446, 447, 448, 506, 507, 508, 509, 510, 511};

/// How long: `how` chooses what `amount` counts.
inline u64 length_of(u8 how, u16 amount, u8 stride_shift) {
  const u64 units = kListUnits[amount % std::size(kListUnits)] * kListUnit;
  const u64 strides = u64{amount % 40u} << stride_shift;  // 33 are the ceiling
  switch (how % 8) {
    case 4: return units;
    case 5: return units + kPageSize;
    case 6: return u64{amount} * kPageSize;
    case 7: return strides + kPageSize;
    default: return strides;
  }
}

/// Where a range of that length is: `where` chooses what `offset` (in pages) counts from.
inline AddressRange place(u8 where, u8 offset, u64 length) {
  switch (where % 4) {
    case 1: {  // across a 16 MiB border
      const u64 start = kPages + kListUnit - offset % 8u * kPageSize;
      return {start, start + length};
    }
    case 2: return {kUserTop - length, kUserTop};
    case 3: {  // up to the top of all addresses, or a little less
      const u64 end = 0 - offset % 4u * kPageSize;
      return {end - length, end};
    }
    default: {
      const u64 start = kPages + offset % 16u * kPageSize;
      return {start, start + length};
    }
  }
}

}  // namespace hvtlb::fuzz
