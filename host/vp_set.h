// The VPs that a call names, and which of them exist.
#pragma once

#include <vector>

#include "host/hypercall_input.h"

namespace hvtlb::host {

inline constexpr u32 kVpsInBank = 64;
inline constexpr u32 kBanks = 64;

class VpSet {
 public:
  void name_all() { all_ = true; }
  /// Names the VPs 64 * bank + n, for every bit n of `vps`.
  void name(u32 bank, u64 vps) { banks_[bank % kBanks] |= vps; }
  /// Names what the banks of a sparse set name: one word for every bit of `bank_mask`, packed, from
  /// byte `at` on. False when not all of them can be read.
  [[nodiscard]] bool name_banks(const Input& input, std::size_t at, u64 bank_mask);

  [[nodiscard]] bool all() const { return all_; }
  /// Whether no VP is named, existing or not.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool names(u32 vp) const {
    if (all_) return true;
    return vp < kBanks * kVpsInBank && (banks_[vp / kVpsInBank] >> (vp % kVpsInBank) & 1) != 0;
  }
  /// The named ones of the existing VPs, ascending. A named VP that does not exist is ignored by
  /// every host (Xen wrote past its mask until XSA-475).
  [[nodiscard]] std::vector<u32> among(std::span<const u32> existing) const;
  /// All that are named by number, existing or not, ascending.
  [[nodiscard]] std::vector<u32> named() const;

 private:
  bool all_ = false;
  std::array<u64, kBanks> banks_{};
};

}  // namespace hvtlb::host
