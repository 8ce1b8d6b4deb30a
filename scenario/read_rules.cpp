// The rules a scenario was made under, and its processes.
#include "model/eras.h"
#include "scenario/read_parts.h"

namespace hvtlb {
namespace {

/// One field of `set`, as FIELD=VALUE.
std::string read_assignment(const YAML::Node& field, const YAML::Node& value) {
  const std::string setting = text_of(value, "a value");
  // The refusals of set_rules_field() repeat both as they are.
  if (field.Scalar().size() > kMaxShownText) refuse(field, "a rule field (see hvtlb eras)");
  if (setting.size() > kMaxShownText) refuse(value, "a value (see hvtlb eras)");
  std::string assignment = field.Scalar() + '=' + setting;
  Rules rules;
  const std::string wrong = set_rules_field(rules, assignment);
  if (!wrong.empty()) throw StepTextError{mark_of(field), escaped_text(wrong)};
  return assignment;
}

}  // namespace

void read_rules(const YAML::Node& node, Scenario& scenario) {
  std::optional<Mark> set_at;
  for_each_key(
      node, "rules", [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
        if (key == "era") {
          scenario.era = text_of(value, "an era");
          if (find_era(scenario.era) == nullptr)
            refuse(value, fmt::format("an era (see hvtlb eras for the releases of each): {}",
                                      era_names()));
        } else if (key == "set") {
          set_at = mark_of(at);
          for_each_key(value, "FIELD: VALUE",
                       [&](const std::string&, const YAML::Node& field, const YAML::Node& setting) {
                         scenario.set.push_back(read_assignment(field, setting));
                       });
        } else {
          unknown_key(at, "era, set");
        }
      });
  if (set_at && scenario.era.empty())
    throw StepTextError{*set_at, "found 'set' without 'era', expected the era that it changes"};
}

void read_processes(const YAML::Node& node, Scenario& scenario) {
  const auto add = [&](const YAML::Node& at, u32 threads) {
    Step probe;
    try {
      probe = parse_step("run " + text_of(at, "a process's name"), mark_of(at));
    } catch (const StepTextError&) {
      refuse(at, "a process's name");
    }
    if (probe.cpu) refuse(at, "a process's name");
    for (const Process& each : scenario.processes)
      if (each.name == probe.process) refuse(at, "every process once");
    scenario.processes.push_back({probe.process, threads});
  };
  if (node.IsSequence()) {
    for (const YAML::Node& each : node) add(each, 1);
  } else {
    for_each_key(
        node, "processes: a list of names or NAME: {threads: N}",
        [&](const std::string&, const YAML::Node& at, const YAML::Node& value) {
          u32 threads = 1;
          for_each_key(
              value, "{threads: N}",
              [&](const std::string& key, const YAML::Node& key_at, const YAML::Node& number) {
                if (key != "threads") unknown_key(key_at, "threads");
                threads = static_cast<u32>(number_of(number, 1, kMaxCpus, "a number of threads"));
              });
          add(at, threads);
        });
  }
  if (scenario.processes.empty()) refuse(node, "at least one process");
}

}  // namespace hvtlb
