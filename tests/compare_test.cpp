// The regression before and after the fix, counted exactly, and the other built-in scenarios.
#include <gtest/gtest.h>

#include "report/compare_text.h"
#include "report/comparison.h"
#include "scenario/builtin.h"

namespace hvtlb {
namespace {

Comparison run(std::string_view name, u64 cpus,
               std::vector<std::string> eras = {"v6.17.5", "filtered"}) {
  const BuiltinScenario* builtin = find_builtin_scenario(name);
  const auto scenario = read_scenario(std::string(builtin->text), std::string(name), cpus);
  std::vector<NamedRules> rules;
  for (const std::string& era : eras) rules.push_back({era, find_era(era), find_era(era)->rules});
  auto result = compare(std::get<Scenario>(scenario), rules, nullptr, nullptr);
  return std::get<Comparison>(std::move(result));
}

class Regression : public ::testing::TestWithParam<u64> {};

TEST_P(Regression, LazyCpusCostNothingAfterTheFix) {
  const u64 n = GetParam();
  const Comparison c = run("regression-lazy", n);
  const FlushCounts& before = c.eras[0].measured;
  const FlushCounts& after = c.eras[1].measured;
  EXPECT_EQ(before.all_processors, 2000u);
  EXPECT_EQ(before.targets, 2000 * n);
  EXPECT_EQ(before.excess[static_cast<u32>(Excess::kLazy)], 2000 * (n - 1));
  EXPECT_EQ(before.swept, 2000 * (n - 1));
  // Lazy members keep their bits: the flush stays on the multi-CPU path, and reaches nobody else.
  EXPECT_EQ(after.hypercalls, 0u);
  EXPECT_EQ(after.ipis, 0u);
  EXPECT_EQ(after.no_ipi, 2000u);
  EXPECT_EQ(after.immediate_trims, 0u);
  EXPECT_EQ(after.reached, 2000u);
  EXPECT_EQ(c.eras[1].masks[0].in_mask, n);
}

TEST_P(Regression, StaleCpusTakeOneTrimRound) {
  const u64 n = GetParam();
  for (const char* name : {"regression-init", "regression-busy"}) {
    const Comparison c = run(name, n);
    const FlushCounts& before = c.eras[0].measured;
    const FlushCounts& after = c.eras[1].measured;
    EXPECT_EQ(before.all_processors, 2000u);
    EXPECT_EQ(before.targets, 2000 * n);
    EXPECT_EQ(after.hypercalls, 0u);
    EXPECT_EQ(after.immediate_trims, 1u);
    EXPECT_EQ(after.periodic_trims, 0u);
    EXPECT_EQ(after.trim_ipis, n - 1);
    EXPECT_EQ(after.local, 1999u);
    EXPECT_EQ(c.eras[0].masks[0].in_mask, n);
    EXPECT_EQ(c.eras[1].masks[0].in_mask, 1u);
  }
}

#ifdef NDEBUG
INSTANTIATE_TEST_SUITE_P(Sizes, Regression, ::testing::Values(8, 32, 96, 416));
#else  // with sanitizers and assertions the largest takes as long as all other tests
INSTANTIATE_TEST_SUITE_P(Sizes, Regression, ::testing::Values(8, 96));
#endif

TEST(Compare, EagerErasHadNoRegression) {
  const Comparison c = run("regression-busy", 32, {"v6.4", "v6.12.117"});
  for (const EraResult& era : c.eras) {
    EXPECT_EQ(era.measured.local, 2000u);
    EXPECT_EQ(era.measured.reached, 2000u);
  }
}

TEST(Compare, TheAllProcessorsShortcutIsOlderThanTheRegression) {
  const Comparison c = run("regression-lazy", 8, {"v6.1", "v6.4", "v6.12.117"});
  for (const EraResult& era : c.eras) {
    EXPECT_EQ(era.measured.all_processors, 2000u) << era.rules.name;
    EXPECT_EQ(era.measured.swept, 2000 * 7u) << era.rules.name;
  }
}

TEST(Compare, FreedTablesStayUnfiltered) {
  for (const char* name : {"munmap-tables", "mremap"}) {
    const Comparison c = run(name, 32);
    EXPECT_EQ(c.eras[1].measured.reached, 32000u) << name;
    EXPECT_EQ(c.eras[0].measured.reached, c.eras[1].measured.reached) << name;
  }
}

TEST(Compare, ThreadsAreReachedAndOnlyThey) {
  for (const char* name : {"threads", "sparse-vps"}) {
    const Comparison c = run(name, 32);
    const FlushCounts& after = c.eras[1].measured;
    EXPECT_EQ(after.targets, 4 * after.flushes) << name;
    EXPECT_EQ(after.needed, after.reached) << name;
    EXPECT_EQ(after.ex_calls, std::string_view(name) == "sparse-vps" ? after.flushes : 0) << name;
  }
}

TEST(Compare, ForksOfADataLoaderFlushTheParentWhole) {
  const Comparison c = run("dataloader", 8);
  for (const EraResult& era : c.eras) {
    EXPECT_EQ(era.by_caller.at(Verb::kFork).flushes, 3 * 7u);
    EXPECT_EQ(era.by_caller.at(Verb::kExit).flushes, 3 * 7u);
  }
  EXPECT_LT(c.eras[1].total.reached, c.eras[0].total.reached);
}

TEST(Compare, NothingIsEverMissedAndEveryVerdictHolds) {
  for (const BuiltinScenario& each : builtin_scenarios()) {
    std::vector<std::string> names;
    for (const Era& era : eras()) names.emplace_back(era.name);
    for (const EraResult& era : run(each.name, 16, names).eras) {
      EXPECT_EQ(era.nr_violations, 0u) << each.name << ' ' << era.rules.name;
      EXPECT_EQ(era.total.missed, 0u) << each.name << ' ' << era.rules.name;
    }
  }
}

TEST(Compare, ExplainsWhatChanged) {
  const Comparison c = run("regression-init", 96);
  const auto lines = explain(c.eras[0], c.eras[1]);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0],
            "In 1000 iterations 2000 all-processor calls with 96 targets each (2 an iteration) "
            "became 1999 local flushes and 1 immediate trim with 95 IPIs.");
}

/// One sentence an expectation; all of them are there, in this order.
void expect_explained(const Comparison& c, const std::vector<std::string>& expected) {
  EXPECT_EQ(explain(c.eras[0], c.eras[1]), expected);
}

TEST(Compare, LessMoreAndEqualAreThreeWords) {
  expect_explained(run("regression-init", 8),
                   {"In 1000 iterations 2000 all-processor calls with 8 targets each (2 an "
                    "iteration) became 1999 local flushes and 1 immediate trim with 7 IPIs.",
                    "CPUs reached an iteration: 16 -> 2.007; 2 needed it.",
                    "2000 mprotect flushes still reach 7 CPUs needlessly (before: 14000)."});
  expect_explained(run("regression-init", 8, {"v6.4", "filtered"}),
                   {"In 1000 iterations 1 local flush became 1 immediate trim with 7 IPIs.",
                    "CPUs reached an iteration: 2 -> 2.007; 2 needed it.",
                    "2000 mprotect flushes now reach 7 CPUs needlessly, more than before (0)."});
  expect_explained(run("regression-lazy", 8, {"v6.4", "v6.17.5"}),
                   {"In 1000 iterations no difference: 2000 all-processor calls with 8 targets "
                    "each (2 an iteration).",
                    "CPUs reached an iteration: 16 -> 16; 2 needed it.",
                    "2000 mprotect flushes still reach 14000 CPUs needlessly, as many as before."});
  expect_explained(run("regression-lazy", 8),
                   {"In 1000 iterations 2000 all-processor calls with 8 targets each (2 an "
                    "iteration) became 2000 native flushes of this CPU alone (2 an iteration).",
                    "CPUs reached an iteration: 16 -> 2; 2 needed it.",
                    "2000 mprotect flushes no longer reach any CPU needlessly (before: 14000)."});
}

Comparison run_text(const std::string& text, const std::vector<std::string>& eras) {
  const auto scenario = read_scenario(text, "test.yaml");
  std::vector<NamedRules> rules;
  for (const std::string& era : eras) rules.push_back({era, find_era(era), find_era(era)->rules});
  auto result = compare(std::get<Scenario>(scenario), rules, nullptr, nullptr);
  return std::get<Comparison>(std::move(result));
}

const std::string kTwoFlushes =
    "hvtlb-scenario: 1\n"
    "machine: {cpus: 4}\n"
    "processes: [A]\n"
    "steps:\n"
    "  - each cpu: run A, then leave_mm\n"
    "  - run A on 0\n";

TEST(Compare, ARunWithoutAMeasuredPartIsExplainedAsAWhole) {
  expect_explained(run_text(kTwoFlushes + "  - mprotect A 1 page on 0\n", {"v6.17.5", "filtered"}),
                   {"In all, 1 all-processor call with 4 targets became 1 immediate trim with 3 "
                    "IPIs.",
                    "CPUs reached: 4 -> 4; 1 needed it.",
                    "1 mprotect flush still reaches 3 CPUs needlessly, as many as before."});
  expect_explained(run_text(kTwoFlushes + "  - mprotect A 1 page on 0\n", {"v6.4", "v6.12.117"}),
                   {"In all, no difference: 1 local flush.", "CPUs reached: 1 -> 1; 1 needed it."});
  expect_explained(run_text(kTwoFlushes, {"v6.4", "v6.12.117"}), {"No flushes."});
}

TEST(Compare, WhoNeedsItIsSaidForBothEras) {
  const Comparison c = run_text(
      "hvtlb-scenario: 1\n"
      "machine: {cpus: 4}\n"
      "processes: [A]\n"
      "steps:\n"
      "  - each cpu: run A, then idle\n"
      "  - run A on 0\n"
      "  - measure 1: [mprotect A 1 page on 0, tick 300, munmap A 1 page freeing tables on 0]\n",
      {"v6.17.5", "filtered"});
  const auto lines = explain(c.eras[0], c.eras[1]);
  EXPECT_EQ(lines[0].substr(0, 15), "In 1 iteration ");
  EraResult other = c.eras[1];
  other.measured.needed -= 1;
  EXPECT_EQ(explain(c.eras[0], other)[1], "CPUs reached an iteration: 8 -> 5; needed: 5 -> 4.");
}

const std::string kZ14 =
    "hvtlb-scenario: 1\n"
    "machine: {cpus: 4, vp: {offset: 70, stride: 1}, hv_max_vp_index: 4096, host: kvm}\n"
    "processes: {A: {threads: 4}}\n"
    "steps:\n"
    "  - each cpu of 0-2: run A\n"
    "  - mprotect A 1 page on 0\n";

TEST(Compare, AViolationIsKnownOnlyByItsTrigger) {
  const auto scenario = read_scenario(kZ14, "z14.yaml");
  const Era& era = *find_era("v6.17.5");
  const auto result =
      compare(std::get<Scenario>(scenario),
              {{"v6.17.5", &era, era.rules}, {"other", nullptr, era.rules}}, nullptr, nullptr);
  const Comparison& c = std::get<Comparison>(result);
  EXPECT_GT(c.eras[0].nr_violations, 0u);
  EXPECT_TRUE(c.eras[0].known_fault);
  EXPECT_EQ(c.eras[0].nr_unexplained, 0u);
  for (const KnownFault* fault : c.eras[0].explained_by) {
    ASSERT_NE(fault, nullptr);
    EXPECT_EQ(fault->zoo, "Z14");
  }
  EXPECT_EQ(verdict_text(c.eras[0]), "violated, but a known fault of the era (Z14): exit 0");
  EXPECT_FALSE(c.eras[1].known_fault);
  EXPECT_EQ(c.eras[1].nr_unexplained, c.eras[1].nr_violations);
  EXPECT_EQ(verdict_text(c.eras[1]), "violated, and no known fault of the era explains it: exit 3");
  EraResult mixed = c.eras[0];
  mixed.nr_violations += 2;
  mixed.nr_unexplained = 2;
  mixed.known_fault = false;
  EXPECT_NE(verdict_text(mixed).find("(Z14) explain only"), std::string::npos);
}

TEST(Compare, AMissedFlushIsExplainedLoudly) {
  const Comparison c = run_text(kZ14, {"v6.17.5", "filtered"});
  expect_explained(
      c, {"In all, no difference: 1 EX call with 0 targets.", "CPUs reached: 0 -> 0; 3 needed it.",
          "MISSED under v6.17.5: 3 CPUs needed a flush and were not reached.",
          "MISSED under filtered: 3 CPUs needed a flush and were not reached."});
}

}  // namespace
}  // namespace hvtlb
