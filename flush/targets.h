// Two ways to walk the CPUs that a hypercall will name: the live mask, with lazy CPUs skipped on
// the way (before the fix), and a private copy that was filtered first (the fix).
#pragma once

#include "flush/predicate.h"
#include "model/live_mask.h"

namespace hvtlb {

/// The mask as passed, which may change at every look.
template <MemoryPolicy P>
struct LiveTargets {
  Kernel<P>& k;
  Cpu self;
  std::span<const u64> mask;
  bool skip_lazy;

  bool equal(std::span<const u64> other) const { return cpumask_equal(k.mem, self, mask, other); }
  Cpu last() const { return cpumask_last(k.mem, self, mask, k.guest.nr_cpus); }

  template <class Visit>
  void for_each(Visit visit) const {
    for_each_cpu(k.mem, self, mask, [&](Cpu cpu) {
      if (skip_lazy && k.mem.load(self, k.guest.cpu_tlbstate_shared[cpu].is_lazy) != 0) return true;
      return visit(cpu);
    });
  }
};

/// This CPU's own copy; nobody else writes it.
struct PrivateTargets {
  std::span<const u64> words;
  u32 nr_cpus;

  bool equal(std::span<const u64> other) const {
    return std::equal(words.begin(), words.end(), other.begin());
  }

  Cpu last() const {
    for (u32 at = static_cast<u32>(words.size()); at-- > 0;)
      if (words[at] != 0)
        return at * kBitsPerWord + kBitsPerWord - 1 - static_cast<u32>(std::countl_zero(words[at]));
    return nr_cpus;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (u32 at = 0; at < words.size(); ++at)
      for (u64 word = words[at]; word != 0; word &= word - 1)
        if (!visit(Cpu{at * kBitsPerWord + static_cast<u32>(std::countr_zero(word))})) return;
  }
};

/// Copies the mask, read live once, keeping the CPUs for which the native predicate holds (all of
/// them when `unfiltered`). Returns whether a CPU other than `self` is in the copy.
template <MemoryPolicy P>
bool filter_targets(Kernel<P>& k, Cpu self, std::span<const u64> mask, const FlushTlbInfo& info,
                    bool unfiltered, std::span<u64> copy) {
  u64 remote = 0;
  for (u32 at = 0; at < mask.size(); ++at) {
    const u64 members = k.mem.load(self, mask[at]);
    u64 kept = unfiltered ? members : 0;
    for (u64 word = members & ~kept; word != 0; word &= word - 1) {
      const u32 bit = static_cast<u32>(std::countr_zero(word));
      const bool keep = should_flush_tlb(k, self, at * kBitsPerWord + bit, info);
      kept |= u64{keep} << bit;
    }
    copy[at] = kept;
    remote |= at == self / kBitsPerWord ? kept & ~bit_of(self) : kept;
  }
  return remote != 0;
}

}  // namespace hvtlb
