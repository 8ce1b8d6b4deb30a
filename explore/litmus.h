// A litmus: a small machine in some state, and a few operations for each of its CPUs, of which
// every interleaving is looked at.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/guest.h"
#include "model/rules.h"
#include "model/truth.h"
#include "scenario/op.h"

namespace hvtlb::explore {

struct Litmus {
  std::string name;
  std::string about;
  MachineShape machine;  ///< at most kMaxExploredCpus CPUs
  Rules rules;
  std::vector<Op> before;                 ///< in sequence, to reach the initial state
  std::vector<std::vector<Op>> programs;  ///< one a CPU
  std::vector<std::string> mm_names;      ///< by slot, as counterexamples show them; may be short
  HostScope host_scope = HostScope::kWholeTlb;
  bool host_returns_early = false;  ///< a hypercall returns before it has taken effect (zoo Z30)
};

/// Whether programs may hold the operation: time, mms that come or go, and CPUs that come or go are
/// for `before`.
bool explorable(OpKind kind);

/// Whether all that these do with other CPUs they do with all of them alike, in no order: they do
/// not go through a mask from the first CPU to the last.
bool treat_cpus_alike(std::span<const Op> ops);

}  // namespace hvtlb::explore
