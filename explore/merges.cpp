#include "explore/merges.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace hvtlb::explore {
namespace {

constexpr u32 kNoParent = ~u32{0};

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

  MergeCheck run(u64 most_states) {
    MergeCheck result;
    ways_.push_back({kNoParent, Action()});
    u32 at = 0;
    for (; at < ways_.size() && known_.size() < most_states && !stopped(); ++at) {
      const std::vector<Action> schedule = schedule_of(at);
      engine_.replay(schedule);
      const u64 state = engine_.hash().low;
      const auto violation = system_.check(engine_.settled());
      const bool ends = violation || engine_.enabled() == 0;
      const u64 actions = ends ? 0 : reduce_(engine_, engine_.enabled());
      const auto [known, is_new] = known_.try_emplace(state, Known{at, 0});
      const u64 successors = violation ? broken(violation->property)
                                       : successors_of(schedule, actions, is_new ? at : kNoParent);
      if (is_new) {
        known_.find(state)->second.successors = successors;
      } else {
        ++result.merges;
        if (known->second.successors != successors) {
          result.wrong = {schedule_of(known->second.way), schedule};
          break;
        }
      }
    }
    result.states = known_.size();
    result.exhausted = !result.wrong && at == ways_.size();
    return result;
  }

 private:
  bool stopped() const {
    if (options_.progress) options_.progress({.states = known_.size()});
    return options_.stop != nullptr && *options_.stop;
  }

  /// Stands for the successors of a state in which this does not hold.
  static u64 broken(Property property) { return ~static_cast<u64>(property); }

  /// Every action and the state that it leads to, in one number. With a `way` its successors will
  /// be looked at, too.
  u64 successors_of(const std::vector<Action>& schedule, u64 actions, u32 way) {
    u64 all = actions;
    for (; actions != 0; actions &= actions - 1) {
      const Action action(static_cast<u8>(std::countr_zero(actions)));
      engine_.replay(schedule);
      engine_.perform(action);
      all = (all ^ engine_.hash().low) * 0x9e3779b97f4a7c15;
      all ^= all >> 31;
      if (way != kNoParent) ways_.push_back({way, action});
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
};

}  // namespace

MergeCheck check_merges(System& system, const Options& options, const Reduce& reduce,
                        u64 most_states, Merging merging) {
  return MergeChecker(system, options, reduce, merging).run(most_states);
}

}  // namespace hvtlb::explore
