// What the properties of interleavings are given: a litmus, a memory model and a schedule.
#pragma once

#include <rapidcheck.h>

#include "explore/drawn_litmus.h"
#include "explore/schedule.h"
#include "model/eras.h"

namespace hvtlb::proptest {

struct LitmusCase {
  std::string era;
  explore::Litmus litmus;
  explore::MemoryModel memory = explore::MemoryModel::kSc;
  std::vector<explore::Change> changes;
};

/// Prints the litmus file with the schedule as a comment.
std::ostream& operator<<(std::ostream& out, const LitmusCase& c);

/// Machines of 2 to 4 CPUs with 1 to 3 processes, up to 16 operations a CPU, and a schedule of up
/// to 24 changes. `rules` and `era` are what the litmus gets. With `hyperv` the path is fixed.
rc::Gen<LitmusCase> litmus_cases(const std::string& era, const Rules& rules, bool freed_tables,
                                 std::optional<bool> hyperv = std::nullopt);

/// The same for an era of the table, as it is.
rc::Gen<LitmusCase> litmus_cases(const Era& era);

/// Runs a case from a fresh start.
explore::ScheduleRun run_case(const LitmusCase& c, const explore::ScheduleOptions& options = {});

}  // namespace hvtlb::proptest
