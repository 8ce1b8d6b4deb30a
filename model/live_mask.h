// Operations on a mask that other CPUs change while it is read: `mm_cpumask(mm)` is passed to a
// flush by reference, never as a copy, so every look at it is a load of one word.
#pragma once

#include <bit>
#include <span>

#include "model/kernel.h"

namespace hvtlb {

constexpr u64 bit_of(Cpu cpu) {
  return u64{1} << (cpu % kBitsPerWord);
}

/// `cpumask_test_cpu()`.
template <MemoryPolicy P>
bool cpumask_test_cpu(P& mem, Cpu self, Cpu cpu, std::span<const u64> mask,
                      Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  const bool member = (mem.load(self, mask[cpu / kBitsPerWord], site) & bit_of(cpu)) != 0;
  mem.answered(self, asked, member, site);
  return member;
}

/// `cpumask_set_cpu()`: LOCKed, and therefore a full fence.
template <MemoryPolicy P>
void cpumask_set_cpu(P& mem, Cpu self, Cpu cpu, std::span<u64> mask, Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  mem.locked(self, mask[cpu / kBitsPerWord], RmwOp::kOr, bit_of(cpu), site);
  mem.answered(self, asked, 0, site);
}

/// `__cpumask_set_cpu()`: neither LOCKed nor a fence; another CPU's change in between is lost.
template <MemoryPolicy P>
void cpumask_set_cpu_plain(P& mem, Cpu self, Cpu cpu, std::span<u64> mask,
                           Site site = Site::here()) {
  u64& word = mask[cpu / kBitsPerWord];
  mem.store(self, word, mem.load(self, word, site) | bit_of(cpu), site);
}

/// `cpumask_clear_cpu()`: LOCKed.
template <MemoryPolicy P>
void cpumask_clear_cpu(P& mem, Cpu self, Cpu cpu, std::span<u64> mask, Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  mem.locked(self, mask[cpu / kBitsPerWord], RmwOp::kAnd, ~bit_of(cpu), site);
  mem.answered(self, asked, 0, site);
}

/// Whether any CPU but `but` is in the mask (`cpumask_any_but() < nr_cpu_ids`).
template <MemoryPolicy P>
bool cpumask_any_but(P& mem, Cpu self, std::span<const u64> mask, Cpu but,
                     Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  bool any = false;
  for (u32 at = 0; at < mask.size() && !any; ++at) {
    u64 word = mem.load(self, mask[at], site);
    if (at == but / kBitsPerWord) word &= ~bit_of(but);
    any = word != 0;
  }
  mem.answered(self, asked, any, site);
  return any;
}

/// `cpumask_equal()`.
template <MemoryPolicy P>
bool cpumask_equal(P& mem, Cpu self, std::span<const u64> mask, std::span<const u64> other,
                   Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  bool equal = true;
  for (u32 at = 0; at < mask.size() && equal; ++at)
    equal = mem.load(self, mask[at], site) == other[at];
  mem.answered(self, asked, equal, site);
  return equal;
}

/// `cpumask_last()`: the highest member, or `nr_cpus` and more when the mask is empty by now.
template <MemoryPolicy P>
Cpu cpumask_last(P& mem, Cpu self, std::span<const u64> mask, u32 nr_cpus,
                 Site site = Site::here()) {
  const u64 asked = mem.asks(self);
  Cpu last = nr_cpus;
  for (u32 at = static_cast<u32>(mask.size()); at-- > 0;) {
    const u64 word = mem.load(self, mask[at], site);
    if (word == 0) continue;
    last = at * kBitsPerWord + kBitsPerWord - 1 - static_cast<u32>(std::countl_zero(word));
    break;
  }
  mem.answered(self, asked, last, site);
  return last;
}

/// `for_each_cpu()`: looks at the mask anew for every member. `visit(cpu)` returns false to stop.
template <MemoryPolicy P, class Visit>
void for_each_cpu(P& mem, Cpu self, std::span<const u64> mask, Visit visit,
                  Site site = Site::here()) {
  for (u32 at = 0; at < mask.size(); ++at) {
    u64 unseen = ~u64{0};
    for (;;) {
      const u64 asked = mem.asks(self);
      const u64 word = mem.load(self, mask[at], site) & unseen;
      const u32 bit = static_cast<u32>(std::countr_zero(word));
      mem.answered(self, asked, bit, site);
      if (word == 0) break;
      if (!visit(Cpu{at * kBitsPerWord + bit})) return;
      unseen = bit == kBitsPerWord - 1 ? 0 : ~u64{0} << (bit + 1);
    }
  }
}

}  // namespace hvtlb
