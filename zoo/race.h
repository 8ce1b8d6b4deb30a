// The zoo's races: a litmus each, explored under both memory models.
#pragma once

#include "explore/litmus_file.h"
#include "zoo/zoo.h"

namespace hvtlb::zoo {

/// The litmus of an entry of kind `kRace`, under the faulty rules.
explore::LitmusFile race_of(const Entry& entry);

/// The same under the corrected rules (or with the corrected host).
explore::LitmusFile corrected_race_of(const Entry& entry);

Outcome run_race(const Entry& entry);

}  // namespace hvtlb::zoo
