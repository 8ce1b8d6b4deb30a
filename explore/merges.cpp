#include "explore/merges.h"

#include <algorithm>
#include <bit>
#include <random>
#include <unordered_map>
#include <unordered_set>

namespace hvtlb::explore {
namespace {

constexpr u32 kNoParent = ~u32{0};
constexpr std::size_t kMostSteps = 300;  // of a random walk, which need not end

/// A way into a state: one action after another way.
struct Way {
  u32 before;
  Action action;
};

/// What is known of a state: the way that came first, and what can happen next.
struct Known {
  u32 way;
  u64 successors;
};

class MergeChecker {
 public:
  MergeChecker(System& system, const Options& options, const Reduce& reduce, Merging merging)
      : options_(options),
        system_(system),
        engine_(system, options.model, merging),
        reduce_(reduce) {}

  MergeCheck run(const MergeBounds& bounds) {
    ways_.push_back({kNoParent, Action()});
    u32 at = 0;
    for (; at < ways_.size() && apart_.size() < bounds.most_states && !ends(); ++at) {
      const std::vector<Action> schedule = schedule_of(at);
      engine_.replay(schedule);
      const bool is_new = apart_.insert(engine_.unmerged_hash().low).second;
      const u64 actions = compare(schedule, at);
      if (!is_new) continue;
      for (u64 left = actions; left != 0; left &= left - 1) ways_.push_back({at, first_of(left)});
    }
    result_.exhausted = !result_.wrong && at == ways_.size();
    for (u32 walk = 0; walk < bounds.random_walks && !ends(); ++walk) walk_at_random();
    result_.states = known_.size();
    result_.told_apart = apart_.size();
    return std::move(result_);
  }

 private:
  static Action first_of(u64 actions) { return Action(static_cast<u8>(std::countr_zero(actions))); }

  bool ends() const {
    if (options_.progress) options_.progress({.states = known_.size()});
    return result_.wrong || (options_.stop != nullptr && *options_.stop);
  }

  /// Compares the state that the schedule leads to, which `at` ends, with the one that was met
  /// first. The engine is in it. Returns what can happen.
  u64 compare(const std::vector<Action>& schedule, u32 at) {
    const CanonicalState canonical = engine_.canonical();
    const auto violation = system_.check(engine_.settled());
    const bool ends = violation || engine_.enabled() == 0;
    const u64 actions = ends ? 0 : reduce_(engine_, engine_.enabled());
    const u64 successors =
        violation ? broken(violation->property) : successors_of(schedule, actions, canonical.order);
    const auto [known, is_new] = known_.try_emplace(canonical.hash.low, Known{at, successors});
    if (is_new) return actions;
    ++result_.merges;
    if (known->second.successors != successors)
      result_.wrong = {schedule_of(known->second.way), schedule};
    return actions;
  }

  void walk_at_random() {
    std::vector<Action> schedule;
    u32 at = 0;
    for (;;) {
      engine_.replay(schedule);
      u64 actions = compare(schedule, at);
      if (actions == 0 || result_.wrong || schedule.size() >= kMostSteps) return;
      for (u64 skip = random_() % static_cast<u32>(std::popcount(actions)); skip != 0; --skip)
        actions &= actions - 1;
      schedule.push_back(first_of(actions));
      ways_.push_back({at, schedule.back()});
      at = static_cast<u32>(ways_.size() - 1);
    }
  }

  /// Stands for the successors of a state in which this does not hold.
  static u64 broken(Property property) { return ~static_cast<u64>(property); }

  /// Every action and the state that it leads to, in one number; CPUs have the names that they have
  /// in the canonical state.
  u64 successors_of(const std::vector<Action>& schedule, u64 actions, const CpuOrder& order) {
    u64 all = 0;
    for (; actions != 0; actions &= actions - 1) {
      const Action action = first_of(actions);
      engine_.replay(schedule);
      engine_.perform(action);
      const u64 one = (engine_.hash().low ^ order.name_of(action).number()) * 0x9e3779b97f4a7c15;
      all += one ^ one >> 31;  // in whatever order
    }
    return all;
  }

  std::vector<Action> schedule_of(u32 at) const {
    std::vector<Action> schedule;
    for (; ways_[at].before != kNoParent; at = ways_[at].before)
      schedule.push_back(ways_[at].action);
    std::reverse(schedule.begin(), schedule.end());
    return schedule;
  }

  const Options& options_;
  const System& system_;
  Engine engine_;
  const Reduce& reduce_;
  std::vector<Way> ways_;
  std::unordered_map<u64, Known> known_;
  std::unordered_set<u64> apart_;
  std::mt19937 random_;
  MergeCheck result_;
};

}  // namespace

MergeCheck check_merges(System& system, const Options& options, const Reduce& reduce,
                        const MergeBounds& bounds, Merging merging) {
  return MergeChecker(system, options, reduce, merging).run(bounds);
}

}  // namespace hvtlb::explore
