// Prints a scenario in canonical form.
#include <fmt/format.h>

#include "scenario/scenario.h"
#include "scenario/step_text.h"

namespace hvtlb {
namespace {

/// A text as a YAML scalar that reads back as itself.
std::string scalar(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

void print_steps(const std::vector<Step>& steps, u32 indent, std::string& text) {
  for (const Step& step : steps) {
    const bool loop = step.verb <= Verb::kMeasure;
    text += fmt::format("{:{}}- {}", "", indent, step_text(step));
    if (loop && step.body.empty()) {
      text += ": []\n";
    } else if (loop) {
      text += ":\n";
      print_steps(step.body, indent + 4, text);
    } else {
      text += '\n';
    }
  }
}

std::string vp_text(const VpNumbering& vp) {
  if (vp.kind == VpNumbering::Kind::kLinear)
    return vp.offset == 0 && vp.stride == 1
               ? "identity"
               : fmt::format("{{offset: {}, stride: {}}}", vp.offset, vp.stride);
  std::string text = "[";
  for (u32 index : vp.list) {
    if (text.size() > 1) text += ", ";
    text += index == kVpInvalid ? "-1" : fmt::format("{}", index);
  }
  return text + ']';
}

}  // namespace

std::string print_setup(const Scenario& scenario) {
  const MachineShape& machine = scenario.machine;
  std::string text;
  if (!scenario.name.empty()) text += fmt::format("name: {}\n", scalar(scenario.name));
  if (!scenario.about.empty()) text += fmt::format("about: {}\n", scalar(scenario.about));
  text += fmt::format("machine:\n  cpus: {}\n", machine.nr_cpus);
  if (machine.present) text += fmt::format("  present: {}\n", machine.present->to_list());
  text += fmt::format("  vp: {}\n", vp_text(scenario.vp));
  if (machine.hv_max_vp_index)
    text += fmt::format("  hv_max_vp_index: {}\n", *machine.hv_max_vp_index);
  text += fmt::format(
      "  hz: {}\n  jiffies: {}\n  pcid: {}\n  lam: {}\n  invlpgb: {}\n  pti: {}\n  path: {}\n  "
      "ex_hint: {}\n  "
      "host: {}\n",
      machine.hz, machine.jiffies, machine.pcid, machine.lam, machine.invlpgb, machine.pti,
      machine.hyperv ? "hyperv" : "native", machine.ex_processor_masks_recommended,
      host::name_of(scenario.host));
  if (!scenario.era.empty() || !scenario.set.empty()) {
    text += "rules:\n";
    if (!scenario.era.empty()) text += fmt::format("  era: {}\n", scenario.era);
    if (!scenario.set.empty()) text += "  set:\n";
    for (const std::string& assignment : scenario.set) {
      const auto equals = assignment.find('=');
      text +=
          fmt::format("    {}: {}\n", assignment.substr(0, equals), assignment.substr(equals + 1));
    }
  }
  text += "processes:\n";
  for (const Process& process : scenario.processes)
    text += fmt::format("  {}: {{threads: {}}}\n", process.name, process.threads);
  return text;
}

std::string print_scenario(const Scenario& scenario) {
  std::string text = fmt::format("hvtlb-scenario: {}\n", kScenarioVersion);
  text += print_setup(scenario);
  text += scenario.steps.empty() ? "steps: []\n" : "steps:\n";
  print_steps(scenario.steps, 2, text);
  return text;
}

}  // namespace hvtlb
