#include "explore/search.h"

#include <bit>
#include <chrono>

#include "explore/reduction.h"
#include "explore/visited.h"

namespace hvtlb::explore {
namespace {

Merging merging_of(const Options& options) {
  return {.forgets = options.reduce, .symmetry = options.symmetry};
}

constexpr u64 kStatesBetweenLooks = 4096;  // at the clock, the limits and the request to stop

class DepthFirst {
 public:
  DepthFirst(System& system, const Options& options, std::span<const std::vector<Action>> prefixes)
      : options_(options),
        prefixes_(prefixes),
        system_(system),
        engine_(system, options.model, merging_of(options)) {}

  Verdict run() {
    system_.take_measured();  // what others have had measured
    do {
      verdict_ = {};
      begin_anew();
      for (const std::vector<Action>& prefix : prefixes_) {
        if (ended_ || reduction_.was_wrong()) break;
        search_behind(prefix);
      }
    } while (reduction_.was_wrong());
    look();
    verdict_.measured = system_.take_measured();
    return std::move(verdict_);
  }

 private:
  struct Branch {
    u64 untried;  // actions of the state before
  };

  void begin_anew() {
    reduction_.begin_anew();
    visited_ = {};
    branches_.clear();
  }

  void search_behind(const std::vector<Action>& prefix) {
    path_ = prefix;
    engine_.replay(path_);
    ++verdict_.statistics.executions;
    do {
      while (go_on()) {
      }
    } while (!ended_ && !reduction_.was_wrong() && turn_back());
  }

  /// In a state just reached: takes its first action. False when there is nothing to go on with.
  bool go_on() {
    Statistics& seen = verdict_.statistics;
    const StateHash hash = engine_.hash();
    visited_.prefetch(hash);
    if (auto violation = system_.check(engine_.settled())) {
      verdict_.violation = std::move(violation);
      return end(End::kViolation);
    }
    if (!visited_.insert(hash)) {
      ++seen.revisits;
      return false;
    }
    if (++seen.states % kStatesBetweenLooks == 0 && !look()) return false;
    u64 actions = engine_.enabled();
    if (actions == 0) {
      if (!engine_.finished()) return end(End::kStuck);
      ++seen.final_states;
      if (options_.at_end) options_.at_end();
      return false;
    }
    if (path_.size() >= options_.most_depth) return end(End::kDepth);
    if (options_.reduce)
      if (const auto only = reduction_.only(engine_, actions)) actions = only->bit();
    branches_.push_back({actions});
    path_.emplace_back();
    seen.depth = std::max<u64>(seen.depth, path_.size());
    take_next();
    return !reduction_.was_wrong();
  }

  /// Performs the next untried action of the innermost state.
  void take_next() {
    u64& untried = branches_.back().untried;
    const Action action(static_cast<u8>(std::countr_zero(untried)));
    untried &= untried - 1;
    path_.back() = action;
    if (action.kind() == Action::Kind::kRun)
      verdict_.steps.add(engine_.next_step(action.cpu()).site);
    reduction_.performing(engine_, action);
    engine_.perform(action);
    ++verdict_.statistics.transitions;
  }

  /// Goes back to the last state with something untried. False when there is none.
  bool turn_back() {
    while (!branches_.empty() && branches_.back().untried == 0) {
      branches_.pop_back();
      path_.pop_back();
    }
    if (branches_.empty()) return false;
    engine_.replay(std::span(path_).first(path_.size() - 1));
    ++verdict_.statistics.executions;
    take_next();
    return !reduction_.was_wrong();
  }

  /// The clock, the limits, whoever watches. False when the search ends here.
  bool look() {
    Statistics& seen = verdict_.statistics;
    seen.bytes = visited_.bytes();
    seen.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (options_.progress) options_.progress(seen);
    if (options_.stop != nullptr && *options_.stop) return end(End::kStopped);
    if (visited_.bytes() * 3 > options_.most_bytes &&
        visited_.size() * 2 + 2 * kStatesBetweenLooks > visited_.bytes() / sizeof(StateHash))
      return end(End::kMemory);
    return true;
  }

  bool end(End why) {
    ended_ = true;
    verdict_.end = why;
    if (why == End::kViolation || why == End::kStuck) verdict_.schedule = path_;
    return false;
  }

  using Clock = std::chrono::steady_clock;

  const Options& options_;
  const std::span<const std::vector<Action>> prefixes_;
  System& system_;
  Engine engine_;
  Reduction reduction_;
  Visited visited_;
  std::vector<Branch> branches_;
  std::vector<Action> path_;
  Verdict verdict_;
  bool ended_ = false;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Verdict explore(System& system, const Options& options) {
  const std::vector<Action> nothing;
  return explore_from(system, options, std::span(&nothing, 1));
}

Verdict explore_from(System& system, const Options& options,
                     std::span<const std::vector<Action>> prefixes) {
  return DepthFirst(system, options, prefixes).run();
}

}  // namespace hvtlb::explore
