// The zoo's races: each explored under both memory models, with the fault and with its repair.
#pragma once

#include "explore/litmus_file.h"
#include "zoo/zoo.h"

namespace hvtlb::zoo {

/// The litmus of a race, under the faulty rules. REQUIRES: a `kRace` that has one (not Z34).
explore::LitmusFile race_of(const Entry& entry);

/// REQUIRES: the entry is a `kRace`.
Outcome run_race(const Entry& entry);

}  // namespace hvtlb::zoo
