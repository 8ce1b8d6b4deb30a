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

  bool empty() const { return start >= end; }
  bool operator==(const AddressRange&) const = default;
};

/// The bytes whose translations the native handler invalidates for `[start, end)`: one page of
/// `1 << stride_shift` bytes for every step of the loop in `flush_tlb_func()`. For aligned requests
/// this is the request itself; an unaligned start moves the last step, as in the kernel.
constexpr AddressRange covered_range(u64 start, u64 end, u8 stride_shift) {
  if (end == kTlbFlushAll) return {0, kTlbFlushAll};
  if (end <= start) return {start, start};
  const u64 stride = u64{1} << stride_shift;
  const u64 steps = ((end - start - 1) >> stride_shift) + 1;
  const u64 first = start & ~(stride - 1);
  const u64 length = steps << stride_shift;
  const u64 last = first + length;
  return {first, last < first ? kTlbFlushAll : last};
}

constexpr AddressRange covered_range(const FlushTlbInfo& info) {
  return covered_range(info.start, info.end, info.stride_shift);
}

}  // namespace hvtlb
