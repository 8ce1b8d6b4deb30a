// Which steps of the guest's routines a search has reached, against the list made from the sources.
#include "explore/steps.h"

#include <algorithm>
#include <fstream>

#include "explore_output.h"

namespace hvtlb::explore {
namespace {

using nlohmann::json;

TEST(KnownSteps, EachIsACallOfThePolicyInItsFile) {
  EXPECT_GT(known_steps().size(), 50u);
  for (const KnownStep& step : known_steps()) {
    std::ifstream file(std::string(HVTLB_SOURCE_DIR) + "/" + std::string(step.file));
    std::string line;
    for (int at = 0; at < step.line; ++at) ASSERT_TRUE(std::getline(file, line));
    EXPECT_NE(line.find("mem"), std::string::npos) << step.file << ":" << step.line << ": " << line;
    EXPECT_FALSE(step.routine.empty()) << step.file << ":" << step.line;
  }
}

TEST(ReachedSteps, WhatWasReachedIsNotMissing) {
  ReachedSteps reached;
  EXPECT_EQ(reached.missing().size(), known_steps().size());
  const KnownStep& step = known_steps()[3];
  const std::string path = "../somewhere/" + std::string(step.file);
  for (int i = 0; i < 3; ++i) reached.add(Site{"r", step.line, path.c_str()});
  EXPECT_EQ(reached.missing().size(), known_steps().size() - 1);
  EXPECT_EQ(reached.nr_unknown(), 0u);
  // The same line of another file, another line, and one that is no step.
  reached.add(Site{"r", step.line, "model/other.h"});
  reached.add(Site{"r", 9999, path.c_str()});
  reached.add(Site{"set_pte", 0, path.c_str()});
  EXPECT_EQ(reached.missing().size(), known_steps().size() - 1);
  EXPECT_EQ(reached.nr_unknown(), 2u);
  ReachedSteps others;
  others.add(reached);
  EXPECT_EQ(others.missing().size(), known_steps().size() - 1);
}

bool has_routine(const json& steps, const std::string& name) {
  return std::any_of(steps["not_reached"].begin(), steps["not_reached"].end(),
                     [&](const json& step) { return step["routine"] == name; });
}

TEST(ExploreSteps, ALitmusSaysWhatItLeavesOut) {
  const json native = cli::explore_printed("two-flushers-native --json").json()["steps"];
  EXPECT_TRUE(has_routine(native, "hv_do_rep_hypercall"));
  EXPECT_TRUE(has_routine(native, "switch_mm_irqs_off"));
  EXPECT_FALSE(has_routine(native, "native_flush_tlb_multi"));
  const json hyperv = cli::explore_printed("two-flushers-before --json").json()["steps"];
  EXPECT_FALSE(has_routine(hyperv, "hv_do_rep_hypercall"));
  const json both = cli::explore_printed("two-flushers-native switch --json").json()["steps"];
  EXPECT_FALSE(has_routine(both, "hv_do_rep_hypercall"));
  EXPECT_LT(both["not_reached"].size(), native["not_reached"].size());
}

TEST(ExploreSteps, TheWholeCatalogueSaysWhatNoLitmusReaches) {
  const cli::Printed all = cli::explore_printed("--all --steps");
  EXPECT_EQ(all.exit_code, cli::kExitHolds);
  const std::size_t head = all.out.find("Steps of the guest's routines reached: ");
  ASSERT_NE(head, std::string::npos);
  EXPECT_NE(all.out.find(" enable_lam()\n", head), std::string::npos);
  EXPECT_EQ(all.out.find(" use_temporary_mm()\n", head), std::string::npos);
}

}  // namespace
}  // namespace hvtlb::explore
