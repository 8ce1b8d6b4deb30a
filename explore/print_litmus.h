// A litmus as a file: what a property or a fuzzer finds is written so that `hvtlb explore` runs it.
#pragma once

#include <string>

#include "explore/litmus.h"
#include "explore/schedule.h"

namespace hvtlb::explore {

/// Reading it back gives the same litmus. Processes are P1, P2 and so on, by mm. `era` and `set`
/// (FIELD=VALUE) are its rules. REQUIRES: its mms are made at the beginning of `before`.
std::string print_litmus(const Litmus& litmus, std::string_view era,
                         const std::vector<std::string>& set = {});

/// The same, with the schedule and what came of it as comments.
std::string print_run(const Litmus& litmus, std::string_view era, MemoryModel memory,
                      const ScheduleRun& run);

}  // namespace hvtlb::explore
