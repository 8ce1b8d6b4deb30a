// Every state of a system whose programs need not end: breadth first, so that schedules stay short.
#pragma once

#include "explore/search.h"

namespace hvtlb::explore {

/// Which of a state's actions stand for all of them; `enabled` itself: none do.
using Reduce = std::function<u64(const Engine& engine, u64 enabled)>;

/// Visits every reachable state, or stops at the first that breaks a property. Uses of `options`:
/// the memory model, the limits of memory and depth, `stop` and `progress`. A state in which
/// nothing is possible is no fault when all programs have ended. REQUIRES: every cycle of states
/// has one in which `reduce` keeps all actions.
Verdict breadth_first(System& system, const Options& options, const Reduce& reduce);

}  // namespace hvtlb::explore
