// From CPUs to virtual processors: the two shapes in which a hypercall names its targets. A target
// list is anything with `for_each(visit)`, where `visit(cpu)` returns false to stop. One that
// nobody else writes may also be walked by words: a word whose CPUs are numbered like the VPs of
// one bank is copied. The walk by CPUs is what both mean; tests compare them.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <vector>

#include "flush/wire.h"
#include "flush/word_bits.h"
#include "model/guest.h"
#include "model/rules.h"
#include "model/vp_index.h"

namespace hvtlb::hv {

enum class PlainSet : u8 { kFilled, kEmpty, kNeedsEx, kInvalidVp };

/// A target list that nobody else writes, as words: `visit(first_cpu, word)` gets those that are
/// not 0 and returns false to stop.
template <class Targets>
concept WordTargets = requires(const Targets& targets, bool (*visit)(Cpu, u64)) {
  targets.for_each_word(visit);
};

/// Fills the 64-bit processor mask of a plain call, CPU by CPU.
template <class Targets>
PlainSet fill_processor_mask_by_cpu(const VpIndex& vp_index, const Targets& targets,
                                    u64& processor_mask) {
  PlainSet outcome = PlainSet::kFilled;
  u64 mask = 0;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp < kVcpusPerSparseBank) {
      mask |= u64{1} << vp;
      return true;
    }
    outcome = vp == kVpInvalid ? PlainSet::kInvalidVp : PlainSet::kNeedsEx;
    return false;
  });
  processor_mask = mask;
  return outcome == PlainSet::kFilled && mask == 0 ? PlainSet::kEmpty : outcome;
}

/// The same, word by word.
template <WordTargets Targets>
PlainSet fill_processor_mask_by_word(const VpIndex& vp_index, const Targets& targets,
                                     u64& processor_mask) {
  u32 offending_vp = 0;
  u64 mask = 0;
  targets.for_each_word([&](Cpu first, u64 word) {
    if (const u32 bank = vp_index.bank_of_word(first / kBitsPerWord); bank != kVpInvalid) {
      if (bank == 0)
        mask |= word;
      else
        offending_vp = bank * kVcpusPerSparseBank;
      return bank == 0;
    }
    const u32* const vps = vp_index.data() + first;
    return for_each_bit(word, [&](u32 bit) {
      if (vps[bit] >= kVcpusPerSparseBank) {
        offending_vp = vps[bit];
        return false;
      }
      mask |= u64{1} << vps[bit];
      return true;
    });
  });
  processor_mask = mask;
  if (offending_vp == kVpInvalid) return PlainSet::kInvalidVp;
  if (offending_vp != 0) return PlainSet::kNeedsEx;
  return mask == 0 ? PlainSet::kEmpty : PlainSet::kFilled;
}

/// Fills the 64-bit processor mask of a plain call.
template <class Targets>
PlainSet fill_processor_mask(const VpIndex& vp_index, const Targets& targets, u64& processor_mask) {
  if constexpr (WordTargets<Targets>)
    return fill_processor_mask_by_word(vp_index, targets, processor_mask);
  else
    return fill_processor_mask_by_cpu(vp_index, targets, processor_mask);
}

inline constexpr int kVpSetInvalid = -1;

/// Fills the banks CPU by CPU. Returns the number of banks, or `kVpSetInvalid`.
template <class Targets>
int fill_banks_by_cpu(const VpIndex& vp_index, const Targets& targets, u64* banks) {
  u32 highest_vp = 0;
  bool valid = true;
  targets.for_each([&](Cpu cpu) {
    const u32 vp = vp_index[cpu];
    if (vp == kVpInvalid) return valid = false;
    banks[vp / kVcpusPerSparseBank] |= u64{1} << (vp % kVcpusPerSparseBank);
    highest_vp = std::max(highest_vp, vp);
    return true;
  });
  return valid ? static_cast<int>(highest_vp / kVcpusPerSparseBank) + 1 : kVpSetInvalid;
}

/// The same, word by word.
template <WordTargets Targets>
int fill_banks_by_word(const VpIndex& vp_index, const Targets& targets, u64* banks) {
  u32 highest_vp = 0;
  bool valid = true;
  targets.for_each_word([&](Cpu first, u64 word) {
    if (const u32 bank = vp_index.bank_of_word(first / kBitsPerWord); bank != kVpInvalid) {
      banks[bank] |= word;
      highest_vp = std::max(highest_vp, bank * kVcpusPerSparseBank);
      return true;
    }
    const u32* const vps = vp_index.data() + first;
    u32 highest = highest_vp;
    valid = for_each_bit(word, [&](u32 bit) {
      const u32 vp = vps[bit];
      if (vp == kVpInvalid) return false;
      banks[vp / kVcpusPerSparseBank] |= u64{1} << (vp % kVcpusPerSparseBank);
      highest = std::max(highest, vp);
      return true;
    });
    highest_vp = highest;
    return valid;
  });
  return valid ? static_cast<int>(highest_vp / kVcpusPerSparseBank) + 1 : kVpSetInvalid;
}

/// How many bank words are cleared before they are filled.
constexpr u32 banks_cleared(BankClearing clearing, u32 nr_banks) {
  switch (clearing) {
    case BankClearing::kAll: return nr_banks;
    case BankClearing::kFirstOnly: return 1;
    case BankClearing::kStaleMax: return nr_banks - 1;
    case BankClearing::kNone:
    case BankClearing::kAfterSetting: break;
  }
  return 0;
}

/// Only where the last call left something: a memset() of words that are read again at once stalls
/// on its wide stores.
inline void clear_banks(u64* banks, u32 count) {
  for (u32 bank = 0; bank < count; ++bank)
    if (banks[bank] != 0) banks[bank] = 0;
}

/// `__cpumask_to_vpset()`: fills the bank words and returns how many there are, at least 1 and up
/// to the highest touched one, empty ones between included; `kVpSetInvalid` when a target has no VP
/// index; 0, with nothing written, when `hv_max_vp_index` is beyond 64 banks (zoo Z14). All banks
/// up to `hv_max_vp_index` are cleared first: the page still holds the previous call (zoo Z10).
/// REQUIRES: every valid VP index is below 4096 where `hv_max_vp_index` is.
template <class Targets>
int cpumask_to_vpset(const VpIndex& vp_index, u32 hv_max_vp_index, const Targets& targets,
                     u64* banks, BankClearing clearing = BankClearing::kAll) {
  const u32 max_vcpu_bank = hv_max_vp_index / kVcpusPerSparseBank;
  if (max_vcpu_bank >= kMaxSparseVcpuBanks) return 0;
  clear_banks(banks, banks_cleared(clearing, max_vcpu_bank + 1));
  int nr_bank = 0;
  if constexpr (WordTargets<Targets>)
    nr_bank = fill_banks_by_word(vp_index, targets, banks);
  else
    nr_bank = fill_banks_by_cpu(vp_index, targets, banks);
  if (clearing == BankClearing::kAfterSetting) clear_banks(banks, max_vcpu_bank + 1);
  return nr_bank;
}

}  // namespace hvtlb::hv
