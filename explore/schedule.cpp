#include "explore/schedule.h"

#include <algorithm>
#include <array>
#include <bit>

namespace hvtlb::explore {
namespace {

/// Whose step or call it is.
constexpr Cpu owner_of(Action action) {
  const bool own = action.kind() == Action::Kind::kRun || action.kind() == Action::Kind::kDrain;
  return own ? action.cpu() : action.other();
}

/// The actions by owner, in the order of the kinds.
constexpr std::array<u64, kMaxExploredCpus> kOwned = [] {
  std::array<u64, kMaxExploredCpus> owned{};
  for (u8 number = 0; number < kNrActions; ++number)
    owned[owner_of(Action(number))] |= Action(number).bit();
  return owned;
}();

/// The programs' own steps.
constexpr u64 kSteps = [] {
  u64 steps = 0;
  for (Cpu cpu = 0; cpu < kMaxExploredCpus; ++cpu) steps |= Action::run(cpu).bit();
  return steps;
}();

/// Who is first.
class Turns {
 public:
  /// The `which`-th of the enabled actions, counted from 0. REQUIRES: there are so many.
  Action at(u64 enabled, u32 which) const {
    for (const Cpu cpu : order_) {
      u64 owned = enabled & kOwned[cpu];
      for (; owned != 0; owned &= owned - 1)
        if (which-- == 0) return Action(static_cast<u8>(std::countr_zero(owned)));
    }
    return {};
  }

  /// The same, modulo their number.
  Action chosen(u64 enabled, u32 which) const {
    return at(enabled, which % static_cast<u32>(std::popcount(enabled)));
  }

  void put_first(Cpu cpu) {
    const auto found = std::find(order_.begin(), order_.end(), cpu);
    std::rotate(order_.begin(), found, found + 1);
  }

 private:
  std::array<Cpu, kMaxExploredCpus> order_{0, 1, 2, 3};
};

}  // namespace

ScheduleRun run_schedule(const System& system, Engine& engine, std::span<const Change> changes,
                         const ScheduleOptions& options) {
  ScheduleRun run;
  Turns turns;
  u32 since_change = 0;
  const auto end = [&](ScheduleEnd why) {
    run.end = why;
    return std::move(run);
  };
  engine.reset();
  for (;;) {
    run.violation = system.check(engine.settled());
    if (run.violation) return end(ScheduleEnd::kViolation);
    const u64 enabled = engine.enabled();
    if (enabled == 0) return end(engine.finished() ? ScheduleEnd::kFinished : ScheduleEnd::kStuck);
    if (run.taken.size() >= options.most_steps) return end(ScheduleEnd::kBound);
    Action action = turns.at(enabled, 0);
    if (!changes.empty() && since_change >= changes.front().after) {
      const u8 which = changes.front().which;
      const bool steps_only = which < kAnyAction && (enabled & kSteps) != 0;
      if (which != 0)
        action = turns.chosen(steps_only ? enabled & kSteps : enabled, which % kAnyAction);
      if (action.kind() == Action::Kind::kRun) turns.put_first(action.cpu());
      changes = changes.subspan(1);
      since_change = 0;
    }
    if (options.watch) options.watch(engine, action);
    engine.perform(action);
    run.taken.push_back(action);
    ++since_change;
  }
}

std::optional<std::string> fault_of(const ScheduleRun& run) {
  switch (run.end) {
    case ScheduleEnd::kFinished: return std::nullopt;
    case ScheduleEnd::kViolation: return to_string(*run.violation);
    case ScheduleEnd::kStuck: return "programs wait for each other";
    case ScheduleEnd::kBound: return "programs do not end";
  }
  return std::nullopt;
}

}  // namespace hvtlb::explore
