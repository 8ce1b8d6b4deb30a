// One schedule instead of all: for machines too large to be exhausted, and for whoever chooses at
// random.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "explore/engine.h"

namespace hvtlb::explore {

/// A CPU goes on until it cannot; a change takes another action, and when that is another CPU's
/// step, this CPU goes on from there. Few changes at the right places find races that a choice at
/// every step finds rarely (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized scheduler
/// with probabilistic guarantees of finding bugs", 2010).
struct Change {
  u8 after = 0;  ///< so many actions behind the change before it
  /// Below kAnyAction of the CPUs that can take a step, from there on of all possible actions;
  /// modulo their number, in turn. 0 changes nothing.
  u8 which = 0;

  bool operator==(const Change&) const = default;
};

inline constexpr u8 kAnyAction = 128;

struct ScheduleOptions {
  u64 most_steps = 100'000;
  /// Called before each action.
  std::function<void(const Engine&, Action)> watch = {};
};

enum class ScheduleEnd : u8 {
  kFinished,
  kViolation,
  kStuck,  ///< programs wait for each other
  kBound,  ///< most_steps
};

struct ScheduleRun {
  ScheduleEnd end = ScheduleEnd::kFinished;
  std::optional<Violation> violation;
  std::vector<Action> taken;  ///< replays it
};

/// Runs from the initial state and judges every state. The CPU that goes first is the one that a
/// change named last, behind it the one named before, and so on. What a CPU does in turn: its own
/// next step; when that has to wait, a drain of its store buffer, the IPIs that it has sent, the
/// effects of its hypercall. So stores, IPIs and effects are as late as can be, unless a change
/// says otherwise. Behind the last change the order stays as it is. REQUIRES: `engine` runs
/// `system`.
ScheduleRun run_schedule(const System& system, Engine& engine, std::span<const Change> changes,
                         const ScheduleOptions& options = {});

/// What is wrong with the run as one line: a violation, or programs that do not end.
std::optional<std::string> fault_of(const ScheduleRun& run);

}  // namespace hvtlb::explore
