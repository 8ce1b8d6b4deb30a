// Operations as a scenario file: what property tests and fuzzers find is written so that
// `hvtlb compare` runs it.
#pragma once

#include <span>

#include "scenario/op.h"
#include "scenario/scenario.h"

namespace hvtlb {

/// A machine and what happens on it. The operations name processes 1 to `nr_processes`, not slots
/// of mms: kDropMm ends a process, kNewMm gives it a new mm.
struct OpsRun {
  MachineShape shape;
  host::Profile host = host::Profile::tlfs;
  u32 nr_processes = 1;
  std::vector<Op> ops;
};

/// The same as a scenario; processes are P1, P2 and so on. Touches of CPUs that run nobody are left
/// out: they judge nothing.
Scenario scenario_of(const OpsRun& run, std::string era, std::vector<std::string> set,
                     std::string name);

}  // namespace hvtlb
