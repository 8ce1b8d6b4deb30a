// Reads a scenario file: YAML with short forms. Every refusal names the file, the line and the
// column.
#include "scenario/read_parts.h"

namespace hvtlb {
namespace {

Scenario read(const std::string& text, const std::string& file, std::optional<u64> cpus) {
  Scenario scenario;
  scenario.file = file;
  if (cpus && (*cpus < 1 || *cpus > kMaxCpus))
    throw StepTextError{{0, 0}, fmt::format("found {} CPUs, expected 1 to {}", *cpus, kMaxCpus)};
  const Source source(text);
  const YAML::Node root = load_document(text);
  YAML::Node version, machine, rules, processes, steps;
  for_each_key(root, "a scenario",
               [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                 if (key == "hvtlb-scenario")
                   version.reset(value);
                 else if (key == "name")
                   scenario.name = text_of(value, "a name");
                 else if (key == "about")
                   scenario.about = text_of(value, "one line");
                 else if (key == "machine")
                   machine.reset(value);
                 else if (key == "rules")
                   rules.reset(value);
                 else if (key == "processes")
                   processes.reset(value);
                 else if (key == "steps")
                   steps.reset(value);
                 else
                   unknown_key(at, "hvtlb-scenario, name, about, machine, rules, processes, steps");
               });
  const auto need = [&](const YAML::Node& node, std::string_view key) {
    if (node.IsNull()) refuse(root, fmt::format("a scenario with the key {}", key));
  };
  need(version, "hvtlb-scenario");
  if (number_of(version, 0, ~u64{0}, "a version") != kScenarioVersion)
    refuse(version, fmt::format("version {}", kScenarioVersion));
  need(machine, "machine");
  need(processes, "processes");
  need(steps, "steps");
  read_machine(machine, scenario, cpus, source);
  if (!rules.IsNull()) read_rules(rules, scenario);
  read_processes(processes, scenario);
  scenario.steps = read_steps(steps, scenario, source);
  return scenario;
}

}  // namespace

std::string ScenarioError::to_string() const {
  if (at.line == 0) return fmt::format("{}: {}", escaped_text(file), what);
  return fmt::format("{}:{}:{}: {}", escaped_text(file), at.line, at.column, what);
}

ScenarioResult<Scenario> read_scenario(const std::string& text, const std::string& file,
                                       std::optional<u64> cpus) {
  return reading(file, [&] { return read(text, file, cpus); });
}

ScenarioResult<Scenario> read_scenario_file(const std::string& path, std::optional<u64> cpus) {
  const ScenarioResult<std::string> text = read_text_file(path);
  if (const auto* error = std::get_if<ScenarioError>(&text)) return *error;
  return read_scenario(std::get<std::string>(text), path == "-" ? "standard input" : path, cpus);
}

}  // namespace hvtlb
