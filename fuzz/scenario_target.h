// Text as a scenario file: read, printed, read again, and run when it is small.
#pragma once

#include <functional>

#include "fuzz/alarm.h"
#include "model/rules.h"

namespace hvtlb::fuzz {

/// A finding is a scenario that does not survive printing, or a violation that no known fault
/// explains, under the fix or the era before it. `change` is done to the rules it runs under: the
/// canary's.
Finding run_scenario(std::span<const u8> text, const std::function<void(Rules&)>& change = {});

}  // namespace hvtlb::fuzz
