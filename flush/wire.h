// The wire format of the four flush hypercalls: numbers and places, nothing else.
// Source: Hypervisor Top Level Functional Specification 6.0b, HvCallFlushVirtualAddress{Space,List}
// and their Ex forms.
#pragma once

#include "model/types.h"

namespace hvtlb::hv {

inline constexpr u16 kFlushVirtualAddressSpace = 0x0002;
inline constexpr u16 kFlushVirtualAddressList = 0x0003;
inline constexpr u16 kFlushVirtualAddressSpaceEx = 0x0013;
inline constexpr u16 kFlushVirtualAddressListEx = 0x0014;

inline constexpr u64 kFlushAllProcessors = u64{1} << 0;
inline constexpr u64 kFlushAllVirtualAddressSpaces = u64{1} << 1;
inline constexpr u64 kFlushNonGlobalMappingsOnly = u64{1} << 2;

inline constexpr u64 kGenericSetSparse4k = 0;

inline constexpr u16 kStatusSuccess = 0;
inline constexpr u16 kStatusInvalidParameter = 5;

/// Word offsets in the input page; a list of GVA entries follows the plain header at `kPlainHeader`
/// and the EX header plus its banks.
inline constexpr u32 kAddressSpaceWord = 0;
inline constexpr u32 kFlagsWord = 1;
inline constexpr u32 kProcessorMaskWord = 2;
inline constexpr u32 kPlainHeader = 3;
inline constexpr u32 kSetFormatWord = 2;
inline constexpr u32 kValidBankMaskWord = 3;
inline constexpr u32 kExHeader = 4;

/// `HV_MAX_SPARSE_VCPU_BANKS` and `HV_VCPUS_PER_SPARSE_BANK`.
inline constexpr u32 kMaxSparseVcpuBanks = 64;
inline constexpr u32 kVcpusPerSparseBank = 64;

/// `HV_TLB_FLUSH_UNIT`: what one GVA entry can cover, 4096 pages.
inline constexpr u64 kTlbFlushUnit = 4096 * kPageSize;

constexpr u64 control_word(u16 code, u64 rep_count, u64 variable_header_words) {
  return code | variable_header_words << 17 | rep_count << 32;
}
constexpr u64 with_rep_start(u64 control, u64 rep_start) {
  return (control & ~(u64{0xfff} << 48)) | rep_start << 48;
}
constexpr u16 call_code(u64 control) {
  return static_cast<u16>(control & 0xffff);
}
constexpr u32 variable_header_words(u64 control) {
  return control >> 17 & 0x3ff;
}
constexpr u32 rep_count(u64 control) {
  return control >> 32 & 0xfff;
}
constexpr u32 rep_start(u64 control) {
  return control >> 48 & 0xfff;
}

constexpr u16 result_status(u64 result) {
  return static_cast<u16>(result & 0xffff);
}
constexpr u32 result_reps_completed(u64 result) {
  return result >> 32 & 0xfff;
}
constexpr u64 result_word(u16 status, u32 reps_completed) {
  return status | u64{reps_completed} << 32;
}

constexpr bool is_ex(u16 code) {
  return code == kFlushVirtualAddressSpaceEx || code == kFlushVirtualAddressListEx;
}
constexpr bool is_list(u16 code) {
  return code == kFlushVirtualAddressList || code == kFlushVirtualAddressListEx;
}

/// How many 8-byte words of the input page the control word declares.
constexpr u32 input_words(u64 control) {
  const u32 header = is_ex(call_code(control)) ? kExHeader : kPlainHeader;
  return header + variable_header_words(control) + rep_count(control);
}

}  // namespace hvtlb::hv
