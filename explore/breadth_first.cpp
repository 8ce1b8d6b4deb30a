#include "explore/breadth_first.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "explore/visited.h"

namespace hvtlb::explore {
namespace {

class BreadthFirst {
 public:
  BreadthFirst(System& system, const Options& options, const Reduce& reduce)
      : options_(options), reduce_(reduce), system_(system), engine_(system, options.model) {}

  Verdict run() {
    bool on = arrive(kNone);
    for (u32 at = 0; on && at < nodes_.size(); ++at) {
      if (at % kNodesBetweenLooks == 0 && !look()) break;
      on = expand(at);
    }
    look();
    return std::move(verdict_);
  }

 private:
  static constexpr u32 kNone = ~u32{0};
  static constexpr u32 kNodesBetweenLooks = 1024;
  static constexpr std::size_t kMostBetween = 0xffff;  ///< actions from one node to the next

  /// A state with several actions, and the actions that lead to it from the last such state.
  struct Node {
    u32 before;
    u32 first;  ///< an index into `actions_`
    u32 depth;
    u16 count;
    u64 enabled;
  };

  /// Looks at the state just reached by `suffix_` from the node `before`, and goes on as long as
  /// there is one action. False: the search ends.
  bool arrive(u32 before) {
    Statistics& seen = verdict_.statistics;
    for (;;) {
      if (auto violation = system_.check(engine_.settled())) {
        verdict_.end = End::kViolation;
        verdict_.violation = std::move(violation);
        verdict_.schedule = schedule_of(before);
        verdict_.schedule.insert(verdict_.schedule.end(), suffix_.begin(), suffix_.end());
        return false;
      }
      if (!visited_.insert(engine_.hash())) {
        ++seen.revisits;
        return true;
      }
      ++seen.states;
      const u64 all = engine_.enabled();
      if (all == 0) {
        ++seen.final_states;
        if (engine_.finished()) return true;
        verdict_.end = End::kStuck;
        verdict_.schedule = schedule_of(before);
        verdict_.schedule.insert(verdict_.schedule.end(), suffix_.begin(), suffix_.end());
        return false;
      }
      const u64 actions = reduce_(engine_, all);
      if (suffix_.size() >= kMostBetween) return cut(End::kDepth);
      if (std::popcount(actions) > 1) return remember(before, actions);
      take(Action(static_cast<u8>(std::countr_zero(actions))));
    }
  }

  /// False when a node cannot say it: the schedule is too long, or there are too many.
  bool remember(u32 before, u64 actions) {
    const u32 depth =
        (before == kNone ? 0u : nodes_[before].depth) + static_cast<u32>(suffix_.size());
    if (depth > options_.most_depth) return cut(End::kDepth);
    if (actions_.size() + suffix_.size() > kNone || nodes_.size() >= kNone)
      return cut(End::kMemory);
    verdict_.statistics.depth = std::max<u64>(verdict_.statistics.depth, depth);
    nodes_.push_back({before, static_cast<u32>(actions_.size()), depth,
                      static_cast<u16>(suffix_.size()), actions});
    actions_.insert(actions_.end(), suffix_.begin(), suffix_.end());
    return true;
  }

  bool cut(End why) {
    verdict_.end = why;
    return false;
  }

  bool expand(u32 at) {
    const std::vector<Action> schedule = schedule_of(at);
    for (u64 left = nodes_[at].enabled; left != 0; left &= left - 1) {
      engine_.replay(schedule);
      ++verdict_.statistics.executions;
      suffix_.clear();
      take(Action(static_cast<u8>(std::countr_zero(left))));
      if (!arrive(at)) return false;
    }
    return true;
  }

  void take(Action action) {
    if (action.kind() == Action::Kind::kRun)
      verdict_.steps.add(engine_.next_step(action.cpu()).site);
    engine_.perform(action);
    suffix_.push_back(action);
    ++verdict_.statistics.transitions;
  }

  std::vector<Action> schedule_of(u32 at) const {
    std::vector<Action> schedule;
    for (; at != kNone; at = nodes_[at].before)
      for (u32 action = nodes_[at].count; action-- > 0;)
        schedule.push_back(actions_[nodes_[at].first + action]);
    std::reverse(schedule.begin(), schedule.end());
    return schedule;
  }

  /// The clock, the limits, whoever watches. False when the search ends here.
  bool look() {
    Statistics& seen = verdict_.statistics;
    seen.bytes = visited_.bytes() + nodes_.capacity() * sizeof(Node) + actions_.capacity();
    seen.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (options_.progress) options_.progress(seen);
    if (verdict_.end != End::kExhausted) return false;
    if (options_.stop != nullptr && *options_.stop)
      verdict_.end = End::kStopped;
    else if (seen.bytes > options_.most_bytes)
      verdict_.end = End::kMemory;
    return verdict_.end == End::kExhausted;
  }

  using Clock = std::chrono::steady_clock;

  const Options& options_;
  const Reduce& reduce_;
  System& system_;
  Engine engine_;
  Visited visited_;
  std::vector<Node> nodes_;
  std::vector<Action> actions_;
  std::vector<Action> suffix_;
  Verdict verdict_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Verdict breadth_first(System& system, const Options& options, const Reduce& reduce) {
  return BreadthFirst(system, options, reduce).run();
}

}  // namespace hvtlb::explore
