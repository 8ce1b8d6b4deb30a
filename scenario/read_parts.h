// The parts that scenario and litmus files have in common. Each reads one key's value into a
// scenario and refuses what it does not know.
#pragma once

#include "scenario/yaml_text.h"

namespace hvtlb {

/// `cpus`, when given, takes the place of the machine's own number.
void read_machine(const YAML::Node& node, Scenario& scenario, std::optional<u64> cpus,
                  const Source& source);
void read_rules(const YAML::Node& node, Scenario& scenario);
void read_processes(const YAML::Node& node, Scenario& scenario);
/// Steps for the scenario's machine; refuses those that come to too many operations.
std::vector<Step> read_steps(const YAML::Node& node, const Scenario& scenario,
                             const Source& source);

}  // namespace hvtlb
