// Whom one flush would reach under other rules, from the same state: the decision on a copy of the
// guest, with nobody flushing in the end.
#pragma once

#include "model/guest.h"
#include "model/rules.h"
#include "scenario/op.h"

namespace hvtlb {

struct Decision {
  CpuMask targets;    ///< online CPUs, the initiator included when it takes part
  bool trim = false;  ///< a trim round, periodic or immediate
  bool all_processors = false;
  bool ex = false;
};

/// REQUIRES: `op` is a kFlushMmRange that the machine would not refuse.
Decision decide(const Guest& guest, const Rules& rules, const Op& op);

}  // namespace hvtlb
