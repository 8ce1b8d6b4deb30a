// One schedule: what a change does, what is judged, and that a drawn litmus is one that a file can
// hold.
#include "explore/schedule.h"

#include <gtest/gtest.h>

#include "explore/drawn_litmus.h"
#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/print_litmus.h"
#include "explore/search.h"
#include "model/eras.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

LitmusFile shipped(std::string_view id) {
  return std::get<LitmusFile>(read_litmus(std::string(zoo::litmus_text(id)), std::string(id)));
}

ScheduleRun run(const Litmus& litmus, std::vector<Change> changes,
                const ScheduleOptions& options = {}) {
  GuestSystem system(litmus);
  Engine engine(system, MemoryModel::kTso);
  return run_schedule(system, engine, changes, options);
}

TEST(Schedule, WithoutChangesProgramsRunOneAfterTheOther) {
  const ScheduleRun ran = run(shipped("Z03").litmus, {});
  EXPECT_EQ(ran.end, ScheduleEnd::kFinished);
  EXPECT_FALSE(ran.taken.empty());
  u32 changes_of_cpu = 0;
  for (std::size_t at = 1; at < ran.taken.size(); ++at)
    changes_of_cpu += ran.taken[at].cpu() != ran.taken[at - 1].cpu();
  EXPECT_EQ(changes_of_cpu, 1u);
}

TEST(Schedule, TwoChangesShowTheMissingFence) {
  // CPU 1 up to its read of the generation, then CPU 0 to its end, then CPU 1 again.
  constexpr u8 kUpToTheRead = 6;
  const std::vector<Change> changes{{0, 1}, {kUpToTheRead, 1}};
  const ScheduleRun ran = run(shipped("Z03").litmus, changes);
  ASSERT_EQ(ran.end, ScheduleEnd::kViolation);
  EXPECT_EQ(ran.violation->property, Property::kP1);
  Litmus corrected = shipped("Z03").litmus;
  corrected.rules = find_era("v6.17.5")->rules;
  EXPECT_EQ(run(corrected, changes).end, ScheduleEnd::kFinished);
}

TEST(Schedule, AChangeToTheFirstChangesNothing) {
  const Litmus litmus = shipped("Z03").litmus;
  const std::vector<Change> none(100);
  EXPECT_EQ(run(litmus, none).taken, run(litmus, {}).taken);
}

TEST(Schedule, AChangeMayDrainAStore) {
  // In turn come CPU 1's step, its drain, CPU 0's step.
  constexpr u8 kUpToTheRead = 5;
  const std::vector<Change> changes{
      {0, 1}, {kUpToTheRead, kAnyAction + 1}, {0, kAnyAction + 1}, {0, 1}};
  const ScheduleRun ran = run(shipped("Z03").litmus, changes);
  EXPECT_EQ(ran.taken[kUpToTheRead], Action::drain(1));
  EXPECT_EQ(ran.taken[kUpToTheRead + 1], Action::run(0));
  EXPECT_EQ(ran.end, ScheduleEnd::kFinished);
}

TEST(Schedule, WhatWasTakenReplaysToTheSameState) {
  const Litmus litmus = shipped("two-flushers").litmus;
  GuestSystem system(litmus);
  Engine engine(system, MemoryModel::kTso);
  const std::vector<Change> changes{{3, 1}, {5, 2}, {2, 199}, {11, 204}};
  const ScheduleRun ran = run_schedule(system, engine, changes);
  const StateHash hash = engine.hash();
  engine.replay(ran.taken);
  EXPECT_EQ(engine.hash(), hash);
  EXPECT_EQ(run_schedule(system, engine, changes).taken, ran.taken);
}

TEST(Schedule, EndsAtTheBound) {
  const ScheduleRun ran = run(shipped("Z03").litmus, {}, {.most_steps = 5});
  EXPECT_EQ(ran.end, ScheduleEnd::kBound);
  EXPECT_EQ(ran.taken.size(), 5u);
}

TEST(GuestSystem, LamBitsAreJudgedWhenEnablingIsDone) {
  const auto read = read_litmus(R"(
hvtlb-litmus: 1
machine: {cpus: 2, path: native, lam: true}
processes: [A, B]
before: [run A on 1, idle on 1, run A on 0]
cpus:
  0: enable_lam
  1: run B
)",
                                "lam");
  const LitmusFile file = std::get<LitmusFile>(read);
  GuestSystem system(file.litmus);
  EXPECT_EQ(explore(system, {}).end, End::kExhausted);
}

/// Draws from a sequence of numbers that goes through all bytes.
LitmusDraw draw_of(u32 seed) {
  u64 state = seed * 0x9e3779b97f4a7c15 + 1;
  const auto byte = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<u8>(state >> 56);
  };
  LitmusDraw draw;
  draw.machine = {byte(), byte(), byte(), byte()};
  for (u32 n = 0; n < 12; ++n) draw.before.push_back({byte(), byte(), byte(), byte()});
  for (u32 n = 0; n < 24; ++n) draw.programs.push_back({byte(), byte(), byte(), byte()});
  return draw;
}

TEST(DrawnLitmus, IsWhatALitmusFileHolds) {
  for (u32 seed = 0; seed < 500; ++seed) {
    const Litmus drawn = litmus_of(draw_of(seed), find_era("filtered")->rules, true);
    const std::string text = print_litmus(drawn, "filtered");
    const auto read = read_litmus(text, "drawn");
    ASSERT_TRUE(std::holds_alternative<LitmusFile>(read))
        << std::get<ScenarioError>(read).to_string() << "\n"
        << text;
    const Litmus& back = std::get<LitmusFile>(read).litmus;
    EXPECT_EQ(back.before, drawn.before) << text;
    EXPECT_EQ(back.programs, drawn.programs) << text;
    EXPECT_EQ(back.mm_names, drawn.mm_names);
    EXPECT_EQ(back.machine.vp_index, drawn.machine.vp_index);
    EXPECT_EQ(back.machine.hyperv, drawn.machine.hyperv);
    EXPECT_EQ(back.machine.pcid, drawn.machine.pcid);
    EXPECT_EQ(back.machine.lam, drawn.machine.lam);
  }
}

TEST(DrawnLitmus, FreesTablesOnlyWhereItMay) {
  const auto frees = [](bool may) {
    for (u32 seed = 0; seed < 100; ++seed)
      for (const auto& program : litmus_of(draw_of(seed), find_era("v6.4")->rules, may).programs)
        for (const Op& op : program)
          if (op.freed_tables) return true;
    return false;
  };
  EXPECT_TRUE(frees(true));
  EXPECT_FALSE(frees(false));
}

}  // namespace
}  // namespace hvtlb::explore
