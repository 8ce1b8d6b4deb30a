// The zoo's races: each explored under both memory models, with the fault and with its repair.
#pragma once

#include "zoo/zoo.h"

namespace hvtlb::zoo {

/// REQUIRES: the entry is a `kRace`.
Outcome run_race(const Entry& entry);

}  // namespace hvtlb::zoo
