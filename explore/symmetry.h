// Where it makes no difference which of two CPUs is which: their numbers exchanged, a state goes on
// as before, with the numbers exchanged.
#pragma once

#include <span>
#include <vector>

#include "explore/cpu_order.h"

namespace hvtlb::explore {

/// What a system knows of its symmetry.
class Symmetry {
 public:
  virtual ~Symmetry() = default;

  /// The orders of the CPUs that may make no difference, but for the plain one. Together with it
  /// they are a group.
  virtual std::span<const CpuOrder> orders() const = 0;
  /// Whether, from this state on, none of them makes a difference.
  virtual bool holds_from_here() const = 0;
  /// The system's state as System::append_state() gives it, of CPUs with these names.
  virtual void append_state_in(const CpuOrder& order, std::vector<u64>& state) const = 0;
  /// The word that takes this one's place, and what it holds instead of `value`.
  virtual const u64* renamed(const CpuOrder& order, const u64* word) const = 0;
  virtual u64 renamed(const CpuOrder& order, const u64* word, u64 value) const = 0;
};

}  // namespace hvtlb::explore
