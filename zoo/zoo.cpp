#include "zoo/zoo.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fmt/format.h>

#include "model/eras.h"
#include "scenario/ops_player.h"
#include "scenario/runner.h"
#include "zoo/host_call.h"
#include "zoo/race.h"

namespace hvtlb::zoo {
namespace {

struct SignRow {
  std::string_view name;
  std::string_view what;             ///< of a cost
  std::optional<Property> property;  ///< of a verdict
  u64 (*cost)(const Costs&) = nullptr;
};

constexpr std::array kSigns{
    SignRow{"P1", "", Property::kP1},
    SignRow{"P2", "", Property::kP2},
    SignRow{"P3", "", Property::kP3},
    SignRow{"P4", "", Property::kP4},
    SignRow{"P7", "", Property::kP7},
    SignRow{"P8", "", Property::kP8},
    SignRow{"lazy", "", Property::kLazy},
    SignRow{"irq", "", Property::kIrq},
    SignRow{"cr3", "", Property::kCr3},
    SignRow{"P5 lazy",
            "lazy CPUs reached without need",
            {},
            [](const Costs& c) { return c.excess[static_cast<u32>(Excess::kLazy)]; }},
    SignRow{"P5 stale",
            "CPUs reached that run something else",
            {},
            [](const Costs& c) { return c.excess[static_cast<u32>(Excess::kStale)]; }},
    SignRow{"P5 swept",
            "CPUs that only the all-processors flag brought in",
            {},
            [](const Costs& c) { return c.swept; }},
    SignRow{"P6", "bits that a trim round left", {}, [](const Costs& c) { return c.not_trimmed; }},
    SignRow{"stale bits",
            "bits of CPUs that run something else, after a trim round",
            {},
            [](const Costs& c) { return c.stale_kept; }},
    SignRow{"redundant",
            "PCIDs emptied that held nothing old",
            {},
            [](const Costs& c) { return c.redundant_flushes; }},
    SignRow{
        "P7 nobody", "calls that name nobody", {}, [](const Costs& c) { return c.nobody_named; }},
};

const SignRow& row_of(Sign sign) {
  return kSigns[static_cast<std::size_t>(sign)];
}

/// The entry's scenario. It is part of the program and was read by a test.
Scenario scenario_of(const Entry& entry) {
  auto result = read_scenario(std::string(entry.scenario), std::string(entry.id));
  assert(std::holds_alternative<Scenario>(result));
  return std::get<Scenario>(std::move(result));
}

Seen seen_by(const Machine& machine, const Costs& costs) {
  return {machine.violations(), machine.nr_violations(), costs};
}

Seen run_scenario(const Scenario& scenario, const Rules& rules, const Rules& meant) {
  ScenarioRunner runner(
      scenario, rules, [](const ScenarioFlush&) {}, nullptr, &meant);
  const auto error = runner.run();
  assert(!error);
  static_cast<void>(error);
  return seen_by(runner.machine(), runner.costs());
}

}  // namespace

std::string_view name_of(Sign sign) {
  return row_of(sign).name;
}

std::optional<std::string> fault_shows(Sign sign, const Seen& variant, const Seen& twin) {
  const SignRow& row = row_of(sign);
  if (row.property) {
    for (const Violation& each : variant.violations)
      if (each.property == *row.property && twin.nr_violations == 0) return to_string(each);
    return std::nullopt;
  }
  const u64 cost = row.cost(variant.costs);
  const u64 least = row.cost(twin.costs);
  if (cost <= least) return std::nullopt;
  return fmt::format("{}: {}, {} under the corrected rules", row.what, cost, least);
}

Pair pair_of(const Entry& entry) {
  assert(entry.kind == Kind::kGuest);
  const Scenario scenario = scenario_of(entry);
  Pair pair;
  pair.era = scenario.era;
  pair.set = scenario.set;
  pair.shape = scenario.machine;
  pair.twin_native = entry.twin_native;
  pair.faulty = find_era(scenario.era)->rules;
  for (const std::string& assignment : scenario.set) set_rules_field(pair.faulty, assignment);
  pair.corrected = find_era(entry.twin_era.empty() ? scenario.era : entry.twin_era)->rules;
  if (!entry.twin_set.empty()) set_rules_field(pair.corrected, std::string(entry.twin_set));
  return pair;
}

Seen look(const MachineShape& shape, const Rules& rules, const Rules& meant,
          std::span<const Op> ops) {
  Machine machine(shape, rules);
  Inspector inspector(machine, meant);
  for (const Op& op : ops) machine.apply(op);  // a refused operation changes nothing
  return seen_by(machine, inspector.costs());
}

Seen look(const OpsRun& run, const Rules& rules, const Rules& meant) {
  ProfileHost host(run.host, existing_vps(Guest(run.shape)));
  Machine machine(run.shape, rules, &host);
  Inspector inspector(machine, meant);
  OpsPlayer player(machine, run.nr_processes);
  for (const Op& op : run.ops) player.play(op);  // a refused operation changes nothing
  return seen_by(machine, inspector.costs());
}

std::optional<std::string> found_by(const Entry& entry, const Pair& pair, OpsRun run) {
  run.shape.hyperv = pair.shape.hyperv;
  const Seen variant = look(run, pair.faulty, pair.corrected);
  run.shape.hyperv &= !pair.twin_native;
  return fault_shows(entry.sign, variant, look(run, pair.corrected, pair.corrected));
}

Outcome run(const Entry& entry) {
  if (entry.kind == Kind::kHost) return run_host_call(entry);
  if (entry.kind == Kind::kRace) return run_race(entry);
  const Pair pair = pair_of(entry);
  Scenario scenario = scenario_of(entry);
  const Seen variant = run_scenario(scenario, pair.faulty, pair.corrected);
  scenario.machine.hyperv &= !pair.twin_native;
  const Seen twin = run_scenario(scenario, pair.corrected, pair.corrected);
  Outcome outcome;
  if (twin.nr_violations != 0) outcome.twin = to_string(twin.violations.front());
  if (auto shown = fault_shows(entry.sign, variant, twin)) outcome.variant = *std::move(shown);
  return outcome;
}

}  // namespace hvtlb::zoo
