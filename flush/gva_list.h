// The list of guest virtual addresses in a LIST call.
#pragma once

#include <span>

#include "flush/wire.h"
#include "model/rules.h"

namespace hvtlb::hv {

/// `fill_gva_list()`: writes entries for `[start, end)` to `list` and returns how many. The page
/// number of an entry is the cursor's with its low 12 bits cut off, its count comes from the length
/// that remains: an unaligned start can leave the last page uncovered, as in the kernel. An empty
/// or reversed range gives one entry of one page. `tail`: zoo Z13, where the list may have no end;
/// the kernel would write on, here it ends where `list` does.
inline u32 fill_gva_list(std::span<u64> list, u64 start, u64 end, GvaTail tail = GvaTail::kToEnd) {
  u32 entries = 0;
  u64 cursor = start;
  do {
    const u64 remaining = end > cursor ? end - cursor : 0;
    u64 entry = cursor & kPageMask;
    if (remaining >= kTlbFlushUnit) {
      entry |= ~kPageMask;
      cursor += kTlbFlushUnit;
    } else if (remaining != 0) {
      entry |= (remaining - 1) >> kPageShift;
      cursor = tail == GvaTail::kToEnd ? end : cursor + kTlbFlushUnit;
    }
    list[entries++] = entry;
  } while (cursor < end && entries < list.size());
  return entries;
}

}  // namespace hvtlb::hv
