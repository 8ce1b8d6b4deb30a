// The driver: lives of mms, what is known of a CPU, and what each era is driven by.
#include "trace/replay.h"

#include <gtest/gtest.h>

#include "replay_trace.h"

namespace hvtlb {
namespace {

u64 known(const EraTotals& era, Knowledge knowledge) {
  return era.knowledge[static_cast<u32>(knowledge)];
}

TEST(Replay, APointerThatDiesByExitIsAnotherMmNextTime) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB);
  trace.idles(1, kMmB).comes(2, 11, kMmB).flushes(2, kMmB, 0b110, 1);
  trace.lazy(2, kMmB).calls_last(2, kMmB).sends(2, kMmB, 0b110, 2, true);
  trace.handler_leaves(1).exits(2);
  trace.forks(0, 12).comes(3, 12, kMmB).comes(1, 12, kMmB).flushes(1, kMmB, 0b1010, 1);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.mms, 3U);
  EXPECT_EQ(result.conformance.masks, 3U);
  EXPECT_EQ(result.conformance.masks_equal, 3U) << result.conformance.first_mismatch_line;
  EXPECT_EQ(result.conformance.generations_equal, 3U);
}

TEST(Replay, ExecGivesAnEmptyMask) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).idles(0, kMmA).comes(1, 10, kMmA).execs(1, kMmB);
  trace.idles(1, kMmB).comes(2, 10, kMmB).flushes(2, kMmB, 0b110, 1);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.masks_equal, 1U);
  EXPECT_EQ(known(result.eras[0], Knowledge::kExact), 1U);
}

/// The last flush of an exec'd-away mm ends its life, exits or not.
TEST(Replay, TheLastFlushEndsALife) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).execs(0, kMmB).calls_last(0, kMmA).execs(0, kMmA);
  EXPECT_EQ(trace.replay().mms, 3U);
}

/// A nested gather flushes as much, from inside: the mm lives on.
TEST(Replay, AFullFlushFromInsideDoesNot) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).calls_last(0, kMmA).idles(0, kMmA).comes(0, 10, kMmA);
  EXPECT_EQ(trace.replay().mms, 1U);
}

TEST(Replay, ThreadsShareOneLife) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmA).flushes(0, kMmA, 0b11, 1);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.mms, 1U);
  EXPECT_EQ(result.conformance.masks_first_sight, 1U);  // older than the recording
}

/// In the recorded kernel the handler moves a lazy CPU away; a hypercall does not.
TEST(Replay, HandlersSwitchesBelongToTheRecordedEra) {
  ReplayTrace trace(3);
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).idles(1, kMmB).comes(2, 11, kMmB);
  trace.flushes(2, kMmB, 0b110, 1, true).handler_leaves(1).calls(2, kMmB);
  std::vector<std::string> masks;
  const ReplayResult result = trace.replay([&](const ReplayedFlush& flush) {
    for (const FlushRecord* record : flush.eras) masks.push_back(record->mask.to_list());
  });
  EXPECT_EQ(masks, (std::vector<std::string>{"1-2", "1-2", "1-2", "2", "1-2", "1-2"}));
  EXPECT_EQ(result.eras[0].local, 1U);
  EXPECT_EQ(result.eras[1].hypercalls, 2U);
  EXPECT_EQ(result.eras[2].trim_rounds, 1U);
  EXPECT_EQ(result.conformance.masks_equal, 1U);
}

/// Two flushes cross: the second one's mask still has the CPU whose handler has not run yet.
TEST(Replay, OverlappingFlushes) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).forks(1, 12).comes(2, 12, kMmB);
  trace.comes(3, 13, kMmA).comes(3, 12, kMmB).idles(3, kMmB);
  trace.calls(1, kMmB, true).calls(2, kMmB, true);
  trace.sends(2, kMmB, 0b1110, 2, true).sends(1, kMmB, 0b1110, 1, true).handler_leaves(3);
  trace.flushes(1, kMmB, 0b0110, 3);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.masks_equal, 3U) << result.conformance.first_mismatch_line;
  EXPECT_EQ(result.conformance.generations_equal, 3U);
  EXPECT_EQ(result.eras[0].needless(), 0U);
}

TEST(Replay, ACpuThatJoinsBetweenCallAndTargets) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).forks(1, 12).calls(1, kMmB);
  trace.comes(2, 12, kMmB).sends(1, kMmB, 0b110, 1);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.joined_late, 1U);
  EXPECT_EQ(result.conformance.masks_equal, 1U);
  EXPECT_EQ(result.eras[0].flushes, 1U);
}

TEST(Replay, AMismatchIsReportedWithItsLine) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).idles(1, kMmB).comes(2, 11, kMmB);
  trace.flushes(2, kMmB, 0b111, 1);
  const Conformance conformance = trace.replay().conformance;
  EXPECT_EQ(conformance.masks_equal, 0U);
  EXPECT_EQ(conformance.first_mismatch_line, 13U);
  EXPECT_EQ(conformance.first_mismatch_model, 0b110U);
  EXPECT_EQ(conformance.first_mismatch_recorded, 0b111U);
}

/// An mm from before the recording: the first mask is taken over, from then on it is compared.
TEST(Replay, AnOldMmsFirstMaskIsTakenOver) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).flushes(0, kMmA, 0b1001, 70).flushes(0, kMmA, 0b1001, 71);
  trace.comes(3, 20, kMmB).calls(0, kMmA);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.masks_first_sight, 1U);
  EXPECT_EQ(result.conformance.masks, 1U);
  EXPECT_EQ(result.conformance.masks_equal, 1U);
  EXPECT_EQ(result.conformance.generations, 0U);
  EXPECT_EQ(result.eras[0].local, 1U);  // CPU 3 turned out to be elsewhere
  EXPECT_EQ(known(result.eras[1], Knowledge::kBounded), 3U);
}

TEST(Replay, AnUnseenCpuThatFlushesIsGuessedToRunTheMm) {
  ReplayTrace trace;
  trace.comes(1, 10, kMmB).calls(0, kMmA);
  trace.line(
      "  t5-5 [002] ..... 2.000000: fmr: (f) mm=0xff11000003000000 start=0x1000 end=0x2000 "
      "stride=12 freed=0");
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.eras[0].flushes, 2U);
  EXPECT_EQ(result.eras[0].nobody, 1U);  // CPU 0 idles: no guess
  EXPECT_EQ(result.eras[0].local, 1U);
  EXPECT_EQ(known(result.eras[0], Knowledge::kGuessed), 2U);
}

/// Nothing but flushes, of an mm that dies in between.
TEST(Replay, FlushesWithoutSwitches) {
  ReplayTrace trace;
  trace.line("  t5-5 [002] ..... 0.1: fmr: (f) mm=0xff11 start=0x0 end=0x1000 stride=12 freed=0");
  trace.forks(0, 6).lazy(2, 0xff11);
  trace.line(
      fmt::format("  t5-5 [002] ..... 0.2: fmr: (f) mm=0xff11 start=0x0 end={:#x} "
                  "stride=12 freed=1",
                  kTlbFlushAll));
  trace.line("  t5-5 [002] ..... 0.3: sched_process_exit: comm=t5 pid=5 prio=120");
  trace.line("  t7-7 [003] ..... 0.4: fmr: (f) mm=0xff11 start=0x0 end=0x1000 stride=12 freed=0");
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.eras[0].flushes, 3U);
  EXPECT_FALSE(result.enough());
}

TEST(Replay, AfterALossNothingIsCompared) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).idles(1, kMmB).comes(2, 11, kMmB);
  trace.flushes(2, kMmB, 0b110, 1).line("CPU:1 [LOST 12 EVENTS]");
  trace.flushes(2, kMmB, 0b100100, 2);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.masks, 1U);
  EXPECT_EQ(result.conformance.masks_first_sight, 1U);
}

TEST(Replay, ABatchHasNoMm) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).comes(1, 11, kMmB).sends(0, 0, 0b10, 0);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.conformance.masks_batched, 1U);
  EXPECT_EQ(result.conformance.masks, 0U);
  EXPECT_EQ(result.eras[0].ipis, 1U);
  EXPECT_EQ(result.eras[1].targets, 1U);
  EXPECT_EQ(result.eras[1].needless(), 0U);  // what was needed is not known
}

TEST(Replay, EventsOnCpusThatTheMachineDoesNotHave) {
  ReplayTrace trace(2);
  trace.comes(0, 10, kMmA).event(7, ".....", "lazy: (f) mm=0xff").calls(0, kMmA);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.beyond_cpus, 1U);
  EXPECT_EQ(result.eras[0].flushes, 1U);
}

/// A second goes by: v6.17.5 asks for a trim round, and Hyper-V's builder ignores it.
TEST(Replay, JiffiesFollowTheTimestamps) {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).comes(2, 12, kMmB);
  std::vector<bool> trims;
  const auto flags = [&](const ReplayedFlush& flush) {
    trims.push_back(flush.eras[1]->request.trim_cpumask);
  };
  trace.flushes(1, kMmB, 0b110, 1).waits(1'500'000).flushes(1, kMmB, 0b110, 2);
  trace.flushes(1, kMmB, 0b110, 3);
  trace.replay(flags);
  EXPECT_EQ(trims, (std::vector<bool>{false, true, false}));
}

TEST(Replay, TooLittleToAnswer) {
  ReplayTrace only_switches;
  only_switches.comes(0, 10, kMmA);
  EXPECT_FALSE(only_switches.replay().enough());
  ReplayTrace only_flushes;
  only_flushes.calls(0, kMmA);
  EXPECT_FALSE(only_flushes.replay().enough());
}

/// Memory does not grow with the number of processes seen.
TEST(Replay, ManyLives) {
  ReplayTrace trace;
  trace.comes(0, 1, kMmA);
  for (u32 at = 0; at < 3 * kMaxLives; ++at) trace.comes(1, Pid(10 + at), kMmB + at * 0x1000);
  trace.calls(0, kMmA);
  const ReplayResult result = trace.replay();
  EXPECT_EQ(result.mms, 3 * kMaxLives + 2);  // the oldest was given up, and seen again
  EXPECT_EQ(result.eras[0].nr_violations(), 0U);
}

}  // namespace
}  // namespace hvtlb
