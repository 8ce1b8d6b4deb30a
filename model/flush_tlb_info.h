// One flush request, as the kernel passes it from the sender to every handler.
#pragma once

#include "model/types.h"

namespace hvtlb {

/// `struct flush_tlb_info` of arch/x86/include/asm/tlbflush.h.
struct FlushTlbInfo {
  MmId mm = kInitMm;             ///< meaningful when `has_mm`
  bool has_mm = false;           ///< false: no mm (`mm == NULL`), a batched unmap
  bool freed_tables = false;     ///< page-table pages were freed
  bool trim_cpumask = false;     ///< this is a trim round: reach stale CPUs too
  u8 stride_shift = kPageShift;  ///< log2 of the step between two invalidated addresses
  Cpu initiating_cpu = 0;
  u64 start = 0;                            ///< first byte
  u64 end = kTlbFlushAll;                   ///< one past the last byte, or `kTlbFlushAll`
  u64 new_tlb_gen = kTlbGenerationInvalid;  ///< the generation this request made
};

/// Bytes of address space, `[start, end)`; `end == kTlbFlushAll` reaches the top.
struct AddressRange {
  u64 start = 0;
  u64 end = kTlbFlushAll;

  bool operator==(const AddressRange&) const = default;
};

/// The 4 KiB pages that a flush of `[start, end)` answers for: those of the request that the loop
/// in `flush_tlb_func()` reaches with its steps of `1 << stride_shift` bytes. For requests that are
/// aligned to their stride this is the request; after an unaligned start the last step may fall
/// short of the end, as in the kernel.
constexpr AddressRange covered_range(u64 start, u64 end, u8 stride_shift) {
  if (end == kTlbFlushAll) return {0, kTlbFlushAll};
  if (end <= start) return {start, start};
  const u64 last_step = start + ((end - start - 1) >> stride_shift << stride_shift);
  const u64 page = u64{1} << (stride_shift > kPageShift ? stride_shift : kPageShift);
  const u64 reached = (last_step & ~(page - 1)) + page - 1;  // the last byte
  const u64 asked = (end - 1) | ~kPageMask;
  const u64 last = reached < asked ? reached : asked;
  return {start & kPageMask, last == ~u64{0} ? kTlbFlushAll : last + 1};
}

constexpr AddressRange covered_range(const FlushTlbInfo& info) {
  return covered_range(info.start, info.end, info.stride_shift);
}

}  // namespace hvtlb
