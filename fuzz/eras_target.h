// One flush from one state, decided by two eras: the newer one never reaches more CPUs.
#pragma once

#include "fuzz/alarm.h"
#include "model/rules.h"

namespace hvtlb::fuzz {

/// Runs the input (ops_input.h) under v6.17.5 and v6.4, and before every flush asks the eras in
/// question: `filtered` reaches a subset of v6.17.5's CPUs, v6.4 a subset of v6.1's, outside of
/// trim rounds and freed tables. `newer`, when given, takes the place of `filtered`: the canary's.
Finding run_eras(std::span<const u8> bytes, const Rules* newer = nullptr);

}  // namespace hvtlb::fuzz
