// The real-kernel conformance test: recordings of Linux 6.12.117 under QEMU, 8 CPUs. The masks that
// the kernel passed to its flushes are the masks that the model has at those moments.
#include <algorithm>
#include <gtest/gtest.h>

#include "model/eras.h"
#include "trace/replay.h"

namespace hvtlb {
namespace {

ReplayEra era(std::string_view name) {
  return {std::string(name), find_era(name)->rules};
}

ReplayResult replay(const std::string& workload, const ReplayEra& recorded) {
  const OpenedTrace trace =
      open_trace(std::string(HVTLB_SOURCE_DIR) + "/tests/data/traces/linux-6.12.117-8cpu-" +
                 workload + ".txt");
  EXPECT_TRUE(trace.reader) << trace.error;
  Replay run(
      {recorded, {era("v6.17.5"), era("filtered")}, *trace.reader->stats().header_cpus, 250});
  TraceEvent event;
  while (trace.reader->next(event)) run.feed(event);
  return run.finish(trace.reader->stats());
}

void expect_conformance(const ReplayResult& result, u64 flushes_to_others) {
  EXPECT_EQ(result.read.skipped, 0U);
  EXPECT_EQ(result.nr_cpus, 8U);
  EXPECT_EQ(result.conformance.masks, flushes_to_others);
  EXPECT_EQ(result.conformance.masks_equal, flushes_to_others)
      << "line " << result.conformance.first_mismatch_line;
  EXPECT_EQ(result.conformance.generations_equal, flushes_to_others);
  EXPECT_EQ(result.conformance.masks_first_sight, 0U);
  EXPECT_EQ(result.conformance.joined_late, 0U);
  EXPECT_EQ(result.conformance.multi_not_seen, 0U);
  EXPECT_EQ(result.eras[0].native, flushes_to_others);
  for (const EraTotals& totals : result.eras) {
    EXPECT_EQ(totals.nr_violations(), 0U) << to_string(*totals.first_violation);
    EXPECT_EQ(totals.missed, 0U) << totals.name;
    EXPECT_EQ(totals.needed + totals.needless(), totals.reached) << totals.name;
  }
}

TEST(ReplayRecorded, VisitEveryMaskIsPredicted) {
  const ReplayResult result = replay("visit", era("v6.12.117"));
  expect_conformance(result, 103);
  EXPECT_EQ(result.eras[0].flushes, 119U);
  EXPECT_EQ(result.eras[0].needless(), 0U);
}

/// The regression on a real recording: 51 iterations and some, seven lazy CPUs in the mask.
TEST(ReplayRecorded, VisitBeforeAndAfterTheFix) {
  const ReplayResult result = replay("visit", era("v6.12.117"));
  const EraTotals& before = result.eras[1];
  EXPECT_EQ(before.hypercalls, 103U);
  EXPECT_EQ(before.all_processors, 103U);
  EXPECT_EQ(before.targets, 103U * 8);
  EXPECT_EQ(before.excess[static_cast<u32>(Excess::kLazy)], 102U * 7);
  const EraTotals& after = result.eras[2];
  EXPECT_EQ(after.hypercalls, 1U);  // exit: tables were freed, the whole mask is reached
  EXPECT_EQ(after.needless(), 0U);
  EXPECT_EQ(after.ipis, 0U);  // the others are lazy: the immediate trim reaches nobody
  EXPECT_EQ(after.reached, result.eras[0].reached);
}

TEST(ReplayRecorded, ThreadsEveryMaskIsPredicted) {
  const ReplayResult result = replay("threads", era("v6.12.117"));
  expect_conformance(result, 115);
  EXPECT_EQ(result.eras[0].flushes, 132U);
  EXPECT_EQ(result.eras[0].needless(), 0U);
}

TEST(ReplayRecorded, MostIsKnownExactly) {
  for (const std::string workload : {"visit", "threads"}) {
    const EraTotals totals = replay(workload, era("v6.12.117")).eras[0];
    EXPECT_EQ(totals.knowledge[static_cast<u32>(Knowledge::kBounded)], 0U);
    // Only the parent's first flushes, on a CPU of which nothing had been seen.
    EXPECT_LE(totals.knowledge[static_cast<u32>(Knowledge::kGuessed)], 4U);
  }
}

/// What docs/replay.md shows: an era that does not fit, by name.
TEST(ReplayRecorded, AnotherErasRulesDiffer) {
  const ReplayResult threads = replay("threads", era("v6.14"));
  EXPECT_EQ(threads.conformance.masks_equal, 114U);
  EXPECT_EQ(threads.conformance.first_mismatch_line, 4139U);
  EXPECT_EQ(replay("visit", era("v6.14")).conformance.masks_equal, 103U);
}

/// The comparison can fail: rules that are not that kernel's do not predict its masks.
TEST(ReplayRecorded, WrongRulesAreFoundOut) {
  ReplayEra left_behind = era("v6.12.117");
  left_behind.rules.prev_bit = PrevBit::kLeftBehind;
  const ReplayResult result = replay("threads", left_behind);
  EXPECT_EQ(result.conformance.masks, 115U);
  // The six flushes after CPUs 0 and 5 had left the mm by handler.
  EXPECT_EQ(result.conformance.masks_equal, 109U);
  EXPECT_EQ(result.conformance.first_mismatch_model, 0x3fU);
  EXPECT_EQ(result.conformance.first_mismatch_recorded, 0x1eU);
}

}  // namespace
}  // namespace hvtlb
