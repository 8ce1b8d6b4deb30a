// Two ways to walk the CPUs that a hypercall will name: the live mask, with lazy CPUs skipped on
// the way (before the fix), and a private copy that was filtered first (the fix).
#pragma once

#include "flush/predicate.h"
#include "flush/word_bits.h"
#include "model/live_mask.h"

namespace hvtlb {

/// Which CPUs of a live mask are left out while it is walked.
enum class LeaveOut : u8 { kNobody, kLazy, kNotLazy };

/// The mask as passed, which may change at every look.
template <MemoryPolicy P>
struct LiveTargets {
  Kernel<P>& k;
  Cpu self;
  std::span<const u64> mask;
  LeaveOut leave_out;

  bool equal(std::span<const u64> other) const { return cpumask_equal(k.mem, self, mask, other); }
  Cpu last() const { return cpumask_last(k.mem, self, mask, k.guest.nr_cpus); }

  template <class Visit>
  void for_each(Visit visit) const {
    for_each_cpu(k.mem, self, mask, [&](Cpu cpu) {
      if (leave_out != LeaveOut::kNobody) {
        const bool lazy = k.mem.load(self, k.guest.cpu_tlbstate_shared[cpu].is_lazy) != 0;
        if (lazy == (leave_out == LeaveOut::kLazy)) return true;
      }
      return visit(cpu);
    });
  }
};

/// This CPU's own copy; nobody else writes it.
struct PrivateTargets {
  std::span<const u64> words;
  u32 nr_cpus;

  bool equal(std::span<const u64> other) const {
    for (u32 at = 0; at < words.size(); ++at)
      if (words[at] != other[at]) return false;
    return true;
  }

  Cpu last() const {
    for (u32 at = static_cast<u32>(words.size()); at-- > 0;)
      if (words[at] != 0)
        return at * kBitsPerWord + kBitsPerWord - 1 - static_cast<u32>(std::countl_zero(words[at]));
    return nr_cpus;
  }

  /// Calls `visit(first_cpu, word)` for every word that is not 0; it returns false to stop.
  template <class Visit>
  void for_each_word(Visit visit) const {
    for (u32 at = 0; at < words.size(); ++at)
      if (words[at] != 0 && !visit(Cpu{at * kBitsPerWord}, words[at])) return;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (u32 at = 0; at < words.size(); ++at)
      for (u64 word = words[at]; word != 0; word &= word - 1)
        if (!visit(Cpu{at * kBitsPerWord + static_cast<u32>(std::countr_zero(word))})) return;
  }
};

/// The predicate for `kSize` CPUs side by side, as bits. Most often all of them run the mm, which
/// is one comparison for the group. Otherwise no branch depends on one CPU: who of them is lazy is
/// anybody's guess, and a wrong guess costs as much as the group.
inline constexpr u32 kGroup = 4;
inline constexpr u32 kLargeGroup = 8;
template <u32 kSize, MemoryPolicy P>
u64 filter_group(P& mem, Cpu self, const CpuTlbStateShared* shared,
                 const FlushPredicate& predicate) {
  u64 loaded_mm[kSize];
  u64 is_lazy[kSize];
  u64 unusual = 0;
  for (u32 i = 0; i < kSize; ++i) {
    loaded_mm[i] = mem.load(self, shared[i].loaded_mm);  // before is_lazy: see should_flush_tlb()
    is_lazy[i] = mem.load(self, shared[i].is_lazy);
    unusual |= (loaded_mm[i] ^ predicate.mm) | is_lazy[i];
  }
  if (unusual == 0) [[likely]]
    return (u64{1} << kSize) - 1;
  u64 kept = 0;
  u64 elsewhere = 0;  // CPUs that are awake with something else loaded
  for (u32 i = 0; i < kSize; ++i) {
    const u64 other = loaded_mm[i] != predicate.mm;
    const u64 awake = is_lazy[i] == 0;
    kept |= (awake & ~other) << i;
    elsewhere |= awake & other;
  }
  if (elsewhere == 0) return kept;
  kept = 0;
  for (u32 i = 0; i < kSize; ++i) kept |= u64{predicate(loaded_mm[i], is_lazy[i])} << i;
  return kept;
}

/// The members of one word of the mask for which the predicate holds. Out of line: its loops need
/// the registers.
template <MemoryPolicy P>
[[gnu::noinline]] u64 filter_word(Kernel<P>& k, Cpu self, u64 members, Cpu first,
                                  const FlushPredicate& predicate) {
  u64 kept = 0;
  if (members != 0 && is_one_run(members) && !predicate.lazy_first) {
    auto [bit, end] = run_of(members);
    const CpuTlbStateShared* shared = k.guest.cpu_tlbstate_shared.data() + first + bit;
    for (; bit + kLargeGroup <= end; bit += kLargeGroup, shared += kLargeGroup)
      kept |= filter_group<kLargeGroup>(k.mem, self, shared, predicate) << bit;
    for (; bit + kGroup <= end; bit += kGroup, shared += kGroup)
      kept |= filter_group<kGroup>(k.mem, self, shared, predicate) << bit;
    members = bit == kBitsPerWord ? 0 : members & (~u64{0} << bit);
  }
  for_each_bit(members, [&](u32 bit) {
    kept |= u64{should_flush_tlb(k, self, first + bit, predicate)} << bit;
    return true;
  });
  return kept;
}

/// Copies the mask, read live once, keeping the CPUs for which the native predicate holds (all of
/// them when `unfiltered`). Returns whether a CPU other than `self` is in the copy.
template <MemoryPolicy P>
bool filter_targets(Kernel<P>& k, Cpu self, std::span<const u64> mask, const FlushTlbInfo& info,
                    bool unfiltered, std::span<u64> copy) {
  const FlushPredicate predicate(k.rules, info);
  u64 remote = 0;
  for (u32 at = 0; at < mask.size(); ++at) {
    const u64 members = k.mem.load(self, mask[at]);
    const u64 kept =
        unfiltered ? members : filter_word(k, self, members, at * kBitsPerWord, predicate);
    copy[at] = kept;
    remote |= at == self / kBitsPerWord ? kept & ~bit_of(self) : kept;
  }
  return remote != 0;
}

}  // namespace hvtlb
