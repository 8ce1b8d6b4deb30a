#include "host/vp_set.h"

#include <algorithm>

namespace hvtlb::host {

bool VpSet::name_banks(const Input& input, std::size_t at, u64 bank_mask) {
  if (!input.holds(at, 8 * static_cast<std::size_t>(std::popcount(bank_mask)))) return false;
  for (; bank_mask != 0; bank_mask &= bank_mask - 1, at += 8)
    name(static_cast<u32>(std::countr_zero(bank_mask)), input.word(at));
  return true;
}

bool VpSet::empty() const {
  return !all_ && std::all_of(banks_.begin(), banks_.end(), [](u64 bank) { return bank == 0; });
}

std::vector<u32> VpSet::named() const {
  std::vector<u32> found;
  for (u32 bank = 0; bank < kBanks; ++bank)
    for (u64 vps = banks_[bank]; vps != 0; vps &= vps - 1)
      found.push_back(bank * kVpsInBank + static_cast<u32>(std::countr_zero(vps)));
  return found;
}

std::vector<u32> VpSet::among(std::span<const u32> existing) const {
  std::vector<u32> found;
  found.reserve(existing.size());  // one allocation, whatever is named
  for (const u32 vp : existing)
    if (names(vp)) found.push_back(vp);
  if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace hvtlb::host
