// The search of one case of the environment.
#pragma once

#include "explore/breadth_first.h"
#include "explore/environment_system.h"
#include "explore/merges.h"

namespace hvtlb::explore {

/// Everything that can happen in the case.
Verdict explore_environment(EnvironmentSystem& system, const Options& options);

/// The one CPU's next step that stands for all actions, if there is one that commutes with them.
/// `system` must outlive the result.
Reduce environment_reduction(const EnvironmentSystem& system);

/// Whether what its states leave out makes no difference, for the first `most_states` states.
MergeCheck check_environment_merges(EnvironmentSystem& system, const Options& options,
                                    u64 most_states);

}  // namespace hvtlb::explore
