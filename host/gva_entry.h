// One entry of a flush list (TLFS, HV_GVA_RANGE).
#pragma once

#include "host/reaction.h"

namespace hvtlb::host {

/// Bits 63:12 the page, 11:0 the pages beyond it.
constexpr Range plain_range(u64 entry) {
  return {entry & ~u64{0xfff}, (entry & 0xfff) + 1};
}

/// The pages beyond the first, in the entry's own page size, when the flags ask for extended
/// ranges.
constexpr u64 extended_additional(u64 entry) {
  return entry & 0x7ff;
}

/// Extended ranges: bit 11 tells large pages, whose size is in bit 12 and address in bits 63:21.
constexpr Range extended_range(u64 entry) {
  const bool large = (entry >> 11 & 1) != 0;
  const bool huge = large && (entry >> 12 & 1) != 0;
  const u64 pages_each = huge ? 0x40000 : large ? 0x200 : 1;
  const u64 start = large ? entry & ~u64{0x1fffff} : entry & ~u64{0xfff};
  return {start, (extended_additional(entry) + 1) * pages_each};
}

/// Whether bits 63:47 are all equal: an address of a guest with four levels of page tables.
constexpr bool canonical(u64 address) {
  const u64 top = address >> 47;
  return top == 0 || top == 0x1ffff;
}

}  // namespace hvtlb::host
