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
  u64 states = 0;          ///< as a search counts them
  u64 told_apart = 0;      ///< by all that routines have read, and by which CPU is which
  u64 merges = 0;          ///< further ways that led to a known state, each of them compared
  bool exhausted = false;  ///< no state was left out
};

struct MergeBounds {
  u64 most_states;       ///< told apart; a hundred bytes each
  u32 random_walks = 0;  ///< the same ones every time
};

/// Looks at every way into every state: the same property must be broken or none, the same actions
/// must be possible, and each must lead to the same state as it does from the state that was met
/// first. Behind a violation nothing is looked at. Ways are followed as long as they differ in
/// anything that a routine has read, even if the search would have forgotten it, or in which CPU is
/// which. So when all is exhausted, what the search takes for one goes on alike for ever, as far as
/// the words and all that was read decide it. That something else decides, too, shows one step
/// behind the merge, or on a random walk, which is compared at every step and joins nothing. Ends
/// at the first difference. Uses of `options`: the memory model, `stop` and `progress`.
MergeCheck check_merges(System& system, const Options& options, const Reduce& reduce,
                        const MergeBounds& bounds, Merging merging = {});

}  // namespace hvtlb::explore
