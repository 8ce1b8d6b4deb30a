// A computed set of CPUs. Live masks, which other CPUs change under the reader, are words behind
// the memory policy instead: see live_mask.h.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <string>

#include "model/types.h"

namespace hvtlb {

/// A set of CPUs (or of virtual processors) of a fixed size.
class CpuMask {
 public:
  using Bits = boost::dynamic_bitset<u64>;

  CpuMask() = default;
  explicit CpuMask(u32 nr_cpus) : bits_(nr_cpus) {}

  /// The set that `words` holds, little end first; bits at `nr_cpus` and above are dropped.
  template <class Words>
  static CpuMask from_words(const Words& words, u32 nr_cpus) {
    CpuMask mask;
    mask.assign_words(words, nr_cpus);
    return mask;
  }

  /// The same in place: a set that is filled again and again allocates once.
  template <class Words>
  void assign_words(const Words& words, u32 nr_cpus) {
    bits_.clear();
    bits_.append(words.begin(), words.end());
    bits_.resize(nr_cpus);
  }
  /// An empty set of that size, in place.
  void assign_empty(u32 nr_cpus) {
    bits_.clear();
    bits_.resize(nr_cpus);
  }

  u32 size() const { return static_cast<u32>(bits_.size()); }
  u32 count() const { return static_cast<u32>(bits_.count()); }
  bool any() const { return bits_.any(); }
  bool none() const { return bits_.none(); }
  /// The lowest member. REQUIRES: any().
  Cpu first() const { return static_cast<Cpu>(bits_.find_first()); }
  bool test(Cpu cpu) const { return cpu < bits_.size() && bits_.test(cpu); }
  void set(Cpu cpu) { bits_.set(cpu); }
  void set_all() { bits_.set(); }
  void reset(Cpu cpu) { bits_.reset(cpu); }
  void clear() { bits_.reset(); }

  bool is_subset_of(const CpuMask& other) const { return bits_.is_subset_of(other.bits_); }
  CpuMask& operator|=(const CpuMask& other) {
    bits_ |= other.bits_;
    return *this;
  }
  CpuMask& operator&=(const CpuMask& other) {
    bits_ &= other.bits_;
    return *this;
  }
  CpuMask& operator-=(const CpuMask& other) {
    bits_ -= other.bits_;
    return *this;
  }
  friend CpuMask operator|(CpuMask a, const CpuMask& b) { return a |= b; }
  friend CpuMask operator&(CpuMask a, const CpuMask& b) { return a &= b; }
  friend CpuMask operator-(CpuMask a, const CpuMask& b) { return a -= b; }
  bool operator==(const CpuMask&) const = default;

  /// Calls `visit(cpu)` for every member, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (auto at = bits_.find_first(); at != Bits::npos; at = bits_.find_next(at))
      visit(static_cast<Cpu>(at));
  }

  /// As a hexadecimal number: bit n = CPU n, lower case, `0x0` when empty.
  std::string to_hex() const;

  /// As the kernel lists CPUs: `3,7,16-19`, `-` when empty.
  std::string to_list() const;

 private:
  Bits bits_;
};

}  // namespace hvtlb
