// The numbers and names everything else is made of. Header only, no state.
#pragma once

#include <cstdint>

namespace hvtlb {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// A Linux CPU number, 0 .. nr_cpus - 1.
using Cpu = u32;

/// An mm, by its slot in the guest. Slot 0 is `init_mm`.
using MmId = u32;

inline constexpr MmId kInitMm = 0;

/// What `cpu_tlbstate.loaded_mm` holds while a CPU is between two mms (`LOADED_MM_SWITCHING`).
inline constexpr u64 kLoadedMmSwitching = ~u64{0};

/// `TLB_FLUSH_ALL`: the `end` of a request that covers the whole address space.
inline constexpr u64 kTlbFlushAll = ~u64{0};

/// `TLB_GENERATION_INVALID`: a request that carries no generation (batched unmap).
inline constexpr u64 kTlbGenerationInvalid = 0;

/// `TLB_NR_DYN_ASIDS`: the ASID slots that every CPU owns.
inline constexpr u32 kNrDynAsids = 6;

/// `MAX_ASID_AVAILABLE`, as with page-table isolation: the highest global ASID.
inline constexpr u64 kMaxGlobalAsid = 2046;

/// `tlb_single_page_flush_ceiling`, counted in strides, not in bytes.
inline constexpr u64 kTlbSinglePageFlushCeiling = 33;

inline constexpr u32 kPageShift = 12;
inline constexpr u64 kPageSize = u64{1} << kPageShift;
inline constexpr u64 kPageMask = ~(kPageSize - 1);

/// The most CPUs a machine may have: 64 banks of 64 virtual processors.
inline constexpr u32 kMaxCpus = 4096;

/// The most mms (processes and `init_mm`) that may be alive at once.
inline constexpr u32 kMaxMms = 8192;

inline constexpr u32 kBitsPerWord = 64;

/// How many 64-bit words hold a mask of `nr_bits` bits.
constexpr u32 words_for(u32 nr_bits) {
  return (nr_bits + kBitsPerWord - 1) / kBitsPerWord;
}

/// `VP_INVAL`: the VP index of a CPU whose index is not known.
inline constexpr u32 kVpInvalid = ~u32{0};

}  // namespace hvtlb
