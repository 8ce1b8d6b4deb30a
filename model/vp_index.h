// `hv_vp_index`: which virtual processor each CPU is. It is learnt once, while CPUs come up, and
// read at every flush, so what follows from it is worked out once, too.
#pragma once

#include <vector>

#include "model/types.h"

namespace hvtlb {

class VpIndex {
 public:
  VpIndex() = default;
  /// One VP index a CPU, `kVpInvalid` when it is unknown. Not explicit: a list of numbers is one.
  VpIndex(std::vector<u32> vps) : vps_(std::move(vps)) {  // NOLINT(google-explicit-constructor)
    for (u32 first = 0; first < vps_.size(); first += kBitsPerWord)
      bank_of_word_.push_back(bank_in_order(first));
  }

  u32 operator[](Cpu cpu) const { return vps_[cpu]; }
  u32 size() const { return static_cast<u32>(vps_.size()); }
  bool empty() const { return vps_.empty(); }
  const u32* data() const { return vps_.data(); }
  auto begin() const { return vps_.begin(); }
  auto end() const { return vps_.end(); }

  /// The bank of 64 whose VPs the 64 CPUs of a mask's word `word` are, in order, or `kVpInvalid`:
  /// then a word of a CPU mask is the bank's word.
  u32 bank_of_word(u32 word) const { return bank_of_word_[word]; }

 private:
  u32 bank_in_order(u32 first) const {
    const u32 base = vps_[first];
    if (base == kVpInvalid || base % kBitsPerWord != 0) return kVpInvalid;
    for (u32 at = 0; at < kBitsPerWord && first + at < vps_.size(); ++at)
      if (vps_[first + at] != base + at) return kVpInvalid;
    return base / kBitsPerWord;
  }

  std::vector<u32> vps_;
  std::vector<u32> bank_of_word_;
};

}  // namespace hvtlb
