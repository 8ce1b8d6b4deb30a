// What a property finds is written as a scenario file: the file, read back, does the same.
#include <gtest/gtest.h>

#include "proptest/run_case.h"
#include "scenario/runner.h"

namespace hvtlb::proptest {
namespace {

TEST(Files, ACaseReadBackFromItsFileDoesTheSame) {
  check_cases("the file does the same", {}, [](const Case& c) {
    CaseRun run(c, c.era().rules, &c.era());
    for (const Op& op : c.ops) run.play(op);

    const std::string text = print_scenario(scenario_of(c, std::string(c.era().name), {}, "case"));
    const auto result = read_scenario(text, "case");
    if (const auto* error = std::get_if<ScenarioError>(&result)) RC_FAIL(error->to_string());
    const Scenario& scenario = std::get<Scenario>(result);
    RC_ASSERT(print_scenario(scenario) == text);
    ScenarioRunner runner(
        scenario, c.era().rules, [](const ScenarioFlush&) {}, &c.era());
    if (const auto error = runner.run()) RC_FAIL(error->to_string());

    RC_ASSERT(runner.machine().nr_violations() == run.machine.nr_violations());
    const Costs& from_file = runner.costs();
    const Costs& direct = run.inspector.costs();
    RC_ASSERT(from_file.flushes == direct.flushes);
    RC_ASSERT(from_file.hypercalls == direct.hypercalls);
    RC_ASSERT(from_file.ipis == direct.ipis);
    RC_ASSERT(from_file.excess == direct.excess);
    RC_ASSERT(from_file.full_flushes == direct.full_flushes);
  });
}

}  // namespace
}  // namespace hvtlb::proptest
