// The races of the zoo on the model's own routines, and the rules without them.
#include <gtest/gtest.h>

#include "explore/guest_system.h"
#include "explore/search.h"
#include "model/eras.h"
#include "tests/box.h"

namespace hvtlb::explore {
namespace {

using test::kVa;
using test::rules_of;

constexpr MmId kA = 1;
constexpr MmId kB = 2;

Op run_mm(Cpu cpu, MmId mm) { return {.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = mm}; }
Op lazy(Cpu cpu) { return {.kind = OpKind::kEnterLazy, .cpu = cpu}; }
Op flush(Cpu cpu, MmId mm) {
  return {.kind = OpKind::kFlushMmRange, .cpu = cpu, .mm = mm, .start = kVa, .end = kVa + 4096};
}

/// CPU 0 runs B; CPU 1 has been on B and now runs A, or is lazy on it. CPU 0 flushes B while CPU 1
/// goes to B.
Litmus switch_against_flush(const Rules& rules, bool hyperv, bool from_lazy) {
  Litmus litmus;
  litmus.machine.nr_cpus = 2;
  litmus.machine.hyperv = hyperv;
  litmus.rules = rules;
  litmus.before = {{.kind = OpKind::kNewMm}, {.kind = OpKind::kNewMm}, run_mm(0, kB),
                   run_mm(1, kB),            run_mm(1, kA)};
  if (from_lazy) litmus.before.push_back(lazy(1));
  litmus.programs = {{flush(0, kB)}, {run_mm(1, kB)}};
  return litmus;
}

std::string verdict_of(const Litmus& litmus, MemoryModel model, bool reduce = true) {
  GuestSystem system(litmus);
  Options options;
  options.model = model;
  options.reduce = reduce;
  const Verdict verdict = explore(system, options);
  fprintf(stderr, "%lu states %lu executions %lu transitions depth %lu %.3f s\n", verdict.statistics.states, verdict.statistics.executions, verdict.statistics.transitions, verdict.statistics.depth, verdict.statistics.seconds);
  if (verdict.end == End::kExhausted) return "holds";
  if (verdict.end == End::kViolation) return std::string(name_of(verdict.violation->property));
  return "cut";
}

TEST(ExploreGuest, Z01AndZ03) {
  const Litmus right = switch_against_flush(rules_of("v6.17.5"), false, false);
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso})
    for (const bool reduce : {false, true}) EXPECT_EQ(verdict_of(right, model, reduce), "holds");
  Rules rules = rules_of("v6.17.5");
  rules.fence_if_bit_set = false;
  const Litmus no_fence = switch_against_flush(rules, false, false);
  EXPECT_EQ(verdict_of(no_fence, MemoryModel::kSc), "holds");
  EXPECT_EQ(verdict_of(no_fence, MemoryModel::kTso), "P1");
}

}  // namespace
}  // namespace hvtlb::explore
