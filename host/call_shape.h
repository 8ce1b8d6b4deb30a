// The four flush calls and where their inputs keep what (TLFS, HvCallFlushVirtualAddressSpace,
// ...List, and their Ex forms).
#pragma once

#include <optional>

#include "host/hypercall_input.h"

namespace hvtlb::host {

struct CallShape {
  bool list = false;    ///< a rep call with GVA entries; else the whole address space
  bool vp_set = false;  ///< the Ex form: a VP set in the place of a 64-bit mask

  [[nodiscard]] constexpr std::size_t header_bytes() const { return vp_set ? 32 : 24; }
};

inline constexpr std::size_t kAddressSpaceAt = 0;
inline constexpr std::size_t kFlagsAt = 8;
inline constexpr std::size_t kProcessorMaskAt = 16;  ///< plain form
inline constexpr std::size_t kSetFormatAt = 16;      ///< Ex form, and the next two
inline constexpr std::size_t kBankMaskAt = 24;
inline constexpr std::size_t kBanksAt = 32;

inline constexpr u64 kFlagAllVps = 1 << 0;
inline constexpr u64 kFlagAllSpaces = 1 << 1;
inline constexpr u64 kFlagNonGlobalOnly = 1 << 2;
inline constexpr u64 kFlagExtendedRanges = 1 << 3;
inline constexpr u64 kFlagsDefined =
    kFlagAllVps | kFlagAllSpaces | kFlagNonGlobalOnly | kFlagExtendedRanges;

inline constexpr u64 kFormatSparse = 0;
inline constexpr u64 kFormatAll = 1;

/// The call behind a call code; nothing for a code that is no flush.
constexpr std::optional<CallShape> shape_of(u16 code) {
  switch (code) {
    case 0x0002: return CallShape{.list = false, .vp_set = false};
    case 0x0003: return CallShape{.list = true, .vp_set = false};
    case 0x0013: return CallShape{.list = false, .vp_set = true};
    case 0x0014: return CallShape{.list = true, .vp_set = true};
    default: return std::nullopt;
  }
}

/// The size that the control word declares: header, variable header, and a list call's entries.
constexpr std::size_t declared_bytes(CallShape shape, Control control) {
  const std::size_t words =
      control.variable_header_words() + (shape.list ? control.rep_count() : 0);
  return shape.header_bytes() + 8 * words;
}

}  // namespace hvtlb::host
