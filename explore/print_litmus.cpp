#include "explore/print_litmus.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "explore/counterexample.h"
#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "scenario/from_ops.h"
#include "scenario/step_text.h"

namespace hvtlb::explore {
namespace {

std::string_view word_of(HostScope scope) {
  switch (scope) {
    case HostScope::kWholeTlb: return "whole_tlb";
    case HostScope::kAddressSpace: return "address_space";
    case HostScope::kIfCr3Matches: return "if_cr3_matches";
    case HostScope::kCurrentPcid: return "current_pcid";
  }
  return "";
}

/// `program`: whose steps do not name the CPU.
std::string list_of(std::vector<Step> steps, bool program) {
  std::string text = "[";
  for (Step& step : steps) {
    if (program) step.cpu.reset();
    text += (text.size() > 1 ? ", " : "") + step_text(step);
  }
  return text + "]";
}

}  // namespace

std::string print_litmus(const Litmus& litmus, std::string_view era,
                         const std::vector<std::string>& set) {
  OpsRun run;
  run.shape = litmus.machine;
  const auto made = std::find_if(litmus.before.begin(), litmus.before.end(),
                                 [](const Op& op) { return op.kind != OpKind::kNewMm; });
  run.nr_processes = static_cast<u32>(made - litmus.before.begin());
  run.ops.assign(made, litmus.before.end());
  Scenario scenario = scenario_of(run, std::string(era), set, litmus.name);
  scenario.about = litmus.about;
  std::string text = fmt::format("hvtlb-litmus: {}\n{}before: {}\n", kLitmusVersion,
                                 print_setup(scenario), list_of(scenario.steps, false));
  if (litmus.host_scope != HostScope::kWholeTlb || litmus.host_returns_early)
    text += fmt::format("hypercalls: {{flush: {}, return: {}}}\n", word_of(litmus.host_scope),
                        litmus.host_returns_early ? "early" : "done");
  text += "cpus:\n";
  for (Cpu cpu = 0; cpu < litmus.machine.nr_cpus; ++cpu) {
    run.ops = litmus.programs[cpu];
    text += fmt::format("  {}: {}\n", cpu, list_of(scenario_of(run, {}, {}, {}).steps, true));
  }
  return text;
}

std::string print_run(const Litmus& litmus, std::string_view era, MemoryModel memory,
                      const ScheduleRun& run) {
  std::string text = print_litmus(litmus, era);
  text += fmt::format("# memory: {}; {}\n", memory == MemoryModel::kSc ? "sc" : "tso",
                      fault_of(run).value_or("holds"));
  GuestSystem system(litmus);
  system.note_events();
  std::istringstream table(table_of(rows_of(system, memory, run.taken), litmus.machine.nr_cpus));
  for (std::string line; std::getline(table, line);) text += "# " + line + '\n';
  return text;
}

}  // namespace hvtlb::explore
