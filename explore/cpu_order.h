// CPUs under other numbers.
#pragma once

#include <array>
#include <bit>
#include <span>

#include "explore/step.h"

namespace hvtlb::explore {

/// A permutation of the first CPUs; those behind them keep their numbers.
class CpuOrder {
 public:
  /// Every CPU as it is.
  constexpr CpuOrder() {
    for (Cpu cpu = 0; cpu < kMaxExploredCpus; ++cpu) at_[cpu] = name_of_[cpu] = cpu;
  }
  /// `at[n]` is the CPU that is called n.
  constexpr explicit CpuOrder(const std::array<Cpu, kMaxExploredCpus>& at) : at_(at) {
    for (Cpu name = 0; name < kMaxExploredCpus; ++name) name_of_[at_[name]] = name;
  }

  /// The CPUs by name.
  constexpr std::span<const Cpu> all() const { return at_; }
  constexpr const std::array<Cpu, kMaxExploredCpus>& array() const { return at_; }
  /// Which CPU is called so.
  constexpr Cpu at(Cpu name) const { return at_[name]; }
  /// What the CPU is called.
  constexpr Cpu name_of(Cpu cpu) const { return name_of_[cpu]; }

  /// A set of CPUs as a set of names, a word of a mask as well: bits behind stay where they are.
  constexpr u64 names_of(u64 cpus) const {
    constexpr u64 kRenamed = (u64{1} << kMaxExploredCpus) - 1;
    u64 names = cpus & ~kRenamed;
    for (u64 left = cpus & kRenamed; left != 0; left &= left - 1)
      names |= u64{1} << name_of_[static_cast<Cpu>(std::countr_zero(left))];
    return names;
  }

  constexpr Action name_of(Action action) const {
    const Cpu cpu = name_of_[action.cpu()];
    switch (action.kind()) {
      case Action::Kind::kRun: return Action::run(cpu, action.other());
      case Action::Kind::kDrain: return Action::drain(cpu);
      case Action::Kind::kDeliver: return Action::deliver(cpu, name_of_[action.other()]);
      case Action::Kind::kEffect: return Action::effect(cpu, name_of_[action.other()]);
    }
    return action;
  }

  bool operator==(const CpuOrder&) const = default;

 private:
  std::array<Cpu, kMaxExploredCpus> at_{};
  std::array<Cpu, kMaxExploredCpus> name_of_{};
};

}  // namespace hvtlb::explore
