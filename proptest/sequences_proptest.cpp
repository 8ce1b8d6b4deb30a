// Properties of random sequences of operations, under every era.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "flush/recorder.h"
#include "proptest/machine_gen.h"

namespace hvtlb::proptest {
namespace {

/// Runs a case and hands every flush to `see`, together with the machine.
template <class See>
void run(const Case& c, See see) {
  Machine machine(c.shape, c.rules_of().rules);
  FlushRecorder recorder(machine.kernel(), machine.truth(),
                         [&](const FlushRecord& record) { see(machine, record); });
  machine.observe(&recorder);
  make_mms(machine, c);
  for (const Op& op : c.ops) {
    machine.apply(op);  // a refused operation changes nothing
    const CpuTlbState& tlb = machine.guest().cpu_tlbstate[op.cpu];
    RC_ASSERT(tlb.irqs_off == (tlb.temporary_mm_prev ? 1u : 0u));
  }
  if (machine.nr_violations() != 0) RC_FAIL(to_string(machine.violations().front()));
}

RC_GTEST_PROP(Sequences, VerdictsHoldAndWhoNeedsAFlushIsReached, ()) {
  const Case c = *arbitrary_case();
  u32 hypercalls = 0;
  u32 trims = 0;
  u32 lazy = 0;
  run(c, [&](const Machine&, const FlushRecord& record) {
    RC_ASSERT(record.missed().none());
    hypercalls += record.outcome == Outcome::kHypercall;
    trims += record.trim;
    lazy += (record.mask - record.native).any();
  });
  RC_TAG(c.rules_of().name);
  RC_CLASSIFY(hypercalls > 0, "with hypercalls");
  RC_CLASSIFY(trims > 0, "with trim rounds");
  RC_CLASSIFY(lazy > 0, "with CPUs to be left out");
  RC_CLASSIFY(c.shape.nr_cpus >= 63, "63 CPUs and more");
}

RC_GTEST_PROP(Sequences, TheFixReachesExactlyTheNativeSet, ()) {
  const Case c = *arbitrary_case(era_index("filtered"), true);
  u32 compared = 0;
  run(c, [&](const Machine& machine, const FlushRecord& record) {
    // The named exceptions: freed tables stay unfiltered, trim rounds reach stale CPUs, a call that
    // failed falls back, and the local path asks nobody.
    const bool exception = record.request.freed_tables || record.trim || record.fell_back ||
                           record.outcome == Outcome::kLocal || record.outcome == Outcome::kNone;
    if (exception) return;
    CpuMask online(machine.guest().nr_cpus);
    for (Cpu cpu = 0; cpu < online.size(); ++cpu)
      if (machine.guest().online(cpu)) online.set(cpu);
    RC_ASSERT((record.sent & online) == record.native);
    ++compared;
  });
  RC_CLASSIFY(compared > 0, "with flushes to compare");
}

RC_GTEST_PROP(Sequences, EagerErasNeverSendToAStaleCpu, ()) {
  const Case c = *arbitrary_case(era_index("v6.4"), false);
  run(c, [&](const Machine&, const FlushRecord& record) {
    if (record.request.has_mm && !covered_range(record.request).empty())
      RC_ASSERT(record.excess[static_cast<u32>(Excess::kStale)].none());
  });
}

}  // namespace
}  // namespace hvtlb::proptest
