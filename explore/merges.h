// Whether states that are remembered as one are one.
#pragma once

#include "explore/breadth_first.h"

namespace hvtlb::explore {

/// Two ways to what is remembered as one state, after which different things can happen.
struct WrongMerge {
  std::vector<Action> first;
  std::vector<Action> second;
};

struct MergeCheck {
  std::optional<WrongMerge> wrong;
  u64 states = 0;
  u64 merges = 0;          ///< further ways that led to a known state, each of them compared
  bool exhausted = false;  ///< no state was left out
};

/// Looks at every way into every state: the same property must be broken or none, the same actions
/// must be possible, and each must lead to the same state as it does from the state that was met
/// first. Behind a violation nothing is looked at. Then states with equal hashes are bisimilar,
/// whatever their hash leaves out: what is found behind one is all that is behind the other. Ends
/// at the first difference, or after `most_states`, which bounds the memory: about a hundred bytes
/// each. Uses of `options`: the memory model, `stop` and `progress`.
MergeCheck check_merges(System& system, const Options& options, const Reduce& reduce,
                        u64 most_states, Merging merging = {});

}  // namespace hvtlb::explore
