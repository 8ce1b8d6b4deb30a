// Every order of a system's actions: depth first, each state once.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/steps.h"

namespace hvtlb::explore {

struct Options {
  MemoryModel model = MemoryModel::kTso;
  bool reduce = true;             ///< partial-order reduction, and routines that forget
  bool symmetry = true;           ///< CPUs with equal programs may stand for each other
  u64 most_bytes = u64{2} << 30;  ///< of memory for remembered states
  u64 most_depth = 100'000;       ///< of one schedule
  const std::atomic<bool>* stop = nullptr;
  /// Called now and then.
  std::function<void(const struct Statistics&)> progress = {};
  /// Called in every final state, when all programs have ended.
  std::function<void()> at_end = {};
};

/// What a search has seen.
struct Statistics {
  u64 states = 0;       ///< distinct ones
  u64 revisits = 0;     ///< ways that led to a state that was known
  u64 executions = 0;   ///< schedules begun from the initial state
  u64 transitions = 0;  ///< actions that led somewhere new or known; replayed ones do not count
  u64 final_states = 0;
  u64 depth = 0;  ///< the longest schedule
  u64 bytes = 0;  ///< of the table of states
  double seconds = 0;
};

/// Why a search ended.
enum class End : u8 {
  kExhausted,  ///< nothing was left out
  kViolation,
  kStuck,    ///< programs wait for each other
  kStopped,  ///< from outside
  kMemory,   ///< the limit was reached
  kDepth,
};

struct Verdict {
  End end = End::kExhausted;
  std::optional<Violation> violation;
  std::vector<Action> schedule;  ///< that leads to the violation
  Statistics statistics;
  ReachedSteps steps;  ///< of the guest's routines
  Measured measured;
};

/// Visits every reachable state, or stops at the first that breaks a property.
Verdict explore(System& system, const Options& options);

/// The same for the states behind these schedules, which have to be possible.
Verdict explore_from(System& system, const Options& options,
                     std::span<const std::vector<Action>> prefixes);

/// A violation's schedule with the fewest changes of CPU, and of these with the fewest actions.
/// Without reduction. Searches at most `most_states` states; none: the violation is not among them.
std::optional<Verdict> shortest(System& system, MemoryModel model, u64 most_states);

}  // namespace hvtlb::explore
