#include "fuzz/scenario_target.h"

#include <algorithm>
#include <fmt/format.h>

#include "fuzz/op_count.h"
#include "model/eras.h"
#include "scenario/runner.h"

namespace hvtlb::fuzz {
namespace {

constexpr u64 kMostOperations = 500;  ///< of a run, about
constexpr u32 kMostCpus = 130;

/// About how many operations the steps are; every loop and every `exit` may visit all CPUs.
u64 operations_of(const std::vector<Step>& steps, u32 nr_cpus) {
  u64 sum = 0;
  for (const Step& step : steps) {
    u64 times = 1;
    if (step.verb == Verb::kEachCpu || step.verb == Verb::kExit) times = nr_cpus;
    if (step.verb == Verb::kRepeat || step.verb == Verb::kMeasure) times = step.count;
    sum += times * (1 + operations_of(step.body, nr_cpus));
    if (sum > kMostOperations) return kMostOperations + 1;  // and no overflow
  }
  return sum;
}

/// Whether every address is one that user space can have: hosts skip entries that are not
/// canonical, so a guest that flushed such pages would miss them.
bool in_user_space(const std::vector<Step>& steps) {
  constexpr u64 kUserTop = u64{1} << 47;
  return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    const bool whole = step.end == kTlbFlushAll;
    const u64 va = step.va.value_or(0);
    const bool counts_pages = step.va.has_value() && step.count <= kMaxPages;
    return step.start <= kUserTop && (whole || step.end <= kUserTop) && va <= kUserTop &&
           (!counts_pages || va + step.count * kPageSize <= kUserTop) && in_user_space(step.body);
  });
}

Finding run_under(const Scenario& scenario, const Era& era,
                  const std::function<void(Rules&)>& change) {
  Rules rules = era.rules;
  if (change) change(rules);
  ScenarioRunner runner(
      scenario, rules, [](const ScenarioFlush&) {}, &era, &era.rules);
  static_cast<void>(runner.run());  // a step that does not fit the state only ends the run
  op_count.done += runner.operations();
  if (runner.nr_unexplained() == 0) return std::nullopt;
  return fmt::format("{} violations under {}, the first: {}", runner.nr_unexplained(), era.name,
                     to_string(runner.machine().violations().front()));
}

}  // namespace

Finding run_scenario(std::span<const u8> bytes, const std::function<void(Rules&)>& change) {
  const std::string text(bytes.begin(), bytes.end());
  const auto read = read_scenario(text, "input");
  const auto* const scenario = std::get_if<Scenario>(&read);
  if (scenario == nullptr) return std::nullopt;
  const std::string printed = print_scenario(*scenario);
  const auto again = read_scenario(printed, "printed");
  if (const auto* const error = std::get_if<ScenarioError>(&again))
    return fmt::format("the printed scenario is refused: {}\n{}", error->to_string(), printed);
  if (const std::string twice = print_scenario(std::get<Scenario>(again)); twice != printed)
    return fmt::format("printed twice it differs:\n{}\n{}", printed, twice);
  const u32 nr_cpus = scenario->machine.nr_cpus;
  const bool small = nr_cpus <= kMostCpus && scenario->processes.size() <= kMostCpus &&
                     operations_of(scenario->steps, nr_cpus) <= kMostOperations;
  if (!small || !in_user_space(scenario->steps)) return std::nullopt;
  for (const std::string_view era : {kEraWithFix, kEraBeforeFix})
    if (Finding finding = run_under(*scenario, *find_era(era), change)) return finding;
  return std::nullopt;
}

}  // namespace hvtlb::fuzz
