#include "explore/litmus_file.h"

#include <algorithm>

#include "explore/step.h"
#include "model/eras.h"
#include "scenario/machine.h"
#include "scenario/read_parts.h"

namespace hvtlb::explore {
namespace {

constexpr u64 kDefaultVa = 0x7f0000000000;

[[noreturn]] void refuse_at(Mark at, const std::string& what) {
  throw StepTextError{at, what};
}

/// Translates steps into operations: process n is mm n + 1, nothing runs anywhere by itself.
class Translator {
 public:
  explicit Translator(const Scenario& scenario) : scenario_(scenario) {}

  Op op_of(const Step& step, Cpu cpu) const {
    Op op{.cpu = cpu};
    switch (step.verb) {
      case Verb::kRun: op.kind = OpKind::kSwitchMm; break;
      case Verb::kIdle: op.kind = OpKind::kEnterLazy; break;
      case Verb::kLeaveMm: op.kind = OpKind::kLeaveMm; break;
      case Verb::kMprotect:
      case Verb::kMadvise:
      case Verb::kMunmap:
      case Verb::kMremap:
      case Verb::kFlush: op = flush_of(step, cpu); break;
      case Verb::kBatchAdd:
        op.kind = OpKind::kBatchAdd;
        op.start = step.va.value_or(kDefaultVa);
        break;
      case Verb::kBatchFlush: op.kind = OpKind::kBatchFlush; break;
      case Verb::kFlushBatchedPending: op.kind = OpKind::kFlushBatchedPending; break;
      case Verb::kUseGlobalAsid: op.kind = OpKind::kUseGlobalAsid; break;
      case Verb::kEnableLam: op.kind = OpKind::kEnableLam; break;
      case Verb::kUseTemporaryMm: op.kind = OpKind::kUseTemporaryMm; break;
      case Verb::kUnuseTemporaryMm: op.kind = OpKind::kUnuseTemporaryMm; break;
      case Verb::kTick:
        op.kind = OpKind::kTick;
        op.jiffies = step.count;
        break;
      case Verb::kOffline: op.kind = OpKind::kOffline; break;
      case Verb::kOnline: op.kind = OpKind::kOnline; break;
      default:
        refuse_at(step.at, fmt::format("found '{}', expected a step that a litmus can have",
                                       name_of(step.verb)));
    }
    const bool names_mm = op.kind == OpKind::kSwitchMm || op.kind == OpKind::kFlushMmRange ||
                          op.kind == OpKind::kBatchAdd || op.kind == OpKind::kFlushBatchedPending ||
                          op.kind == OpKind::kUseGlobalAsid || op.kind == OpKind::kUseTemporaryMm;
    if (names_mm) op.mm = mm_of(step);
    return op;
  }

 private:
  Op flush_of(const Step& step, Cpu cpu) const {
    Op op{.kind = OpKind::kFlushMmRange, .cpu = cpu};
    if (step.verb == Verb::kFlush) {
      op.start = step.start;
      op.end = step.end;
      op.stride_shift = step.stride_shift;
      op.freed_tables = step.freed_tables;
      return op;
    }
    op.start = step.va.value_or(kDefaultVa);
    op.end = op.start + step.count * kPageSize;
    op.freed_tables = step.freed_tables || step.verb == Verb::kMremap;
    return op;
  }

  MmId mm_of(const Step& step) const {
    if (step.process.empty()) return 1;
    for (u32 at = 0; at < scenario_.processes.size(); ++at)
      if (scenario_.processes[at].name == step.process) return at + 1;
    refuse_at(step.at, fmt::format("found the process '{}', expected one of `processes`",
                                   shown_text(step.process)));
  }

  const Scenario& scenario_;
};

std::vector<Op> ops_before(const std::vector<Step>& steps, const Scenario& scenario,
                           const Rules& rules) {
  const Translator translator(scenario);
  std::vector<Op> ops(scenario.processes.size(), Op{.kind = OpKind::kNewMm});
  Machine machine(scenario.machine, rules);
  for (const Op& op : ops) machine.apply(op);
  for (const Step& step : steps) {
    if (step.verb <= Verb::kMeasure) refuse_at(step.at, "found a loop, expected single steps");
    const bool of_machine = step.verb == Verb::kTick;
    if (!step.cpu && !of_machine) refuse_at(step.at, "found no CPU, expected `on CPU`");
    const Op op = translator.op_of(step, step.cpu.value_or(0));
    if (op.kind == OpKind::kBatchAdd || op.kind == OpKind::kBatchFlush)
      refuse_at(step.at, "found a batch before the programs begin, expected it in a program");
    if (const OpError error = machine.apply(op); error != OpError::kNone)
      refuse_at(step.at, fmt::format("found '{}': {}", step_text(step), message_of(error)));
    ops.push_back(op);
  }
  return ops;
}

/// What a CPU is when its program begins.
struct Beginning {
  bool runs_user = false;
  bool offline = false;
};

/// A temporary mm is left again, nothing else happens inside it; LAM is enabled by whoever runs; a
/// CPU that is offline comes online before anything else.
void check_program(const std::vector<Step>& steps, const std::vector<Op>& ops,
                   const Scenario& scenario, const Rules& rules, Beginning beginning) {
  auto [runs_user, offline] = beginning;
  bool inside = false;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const OpKind kind = ops[at].kind;
    if (!explorable(kind))
      refuse_at(steps[at].at,
                fmt::format("found '{}' in a program, expected it in `before`", name_of(kind)));
    if (inside != (kind == OpKind::kUnuseTemporaryMm))
      refuse_at(steps[at].at, inside ? "found another step inside a temporary mm, expected "
                                       "unuse_temporary_mm"
                                     : "found unuse_temporary_mm outside of a temporary mm");
    inside = kind == OpKind::kUseTemporaryMm;
    if (offline != (kind == OpKind::kOnline))
      refuse_at(steps[at].at, offline
                                  ? "found another step on a CPU that is offline, expected online"
                                  : "found online on a CPU that is online");
    offline = kind == OpKind::kOffline;
    if (kind == OpKind::kOffline) runs_user = false;
    if (kind == OpKind::kSwitchMm) runs_user = true;
    if (kind == OpKind::kEnterLazy || kind == OpKind::kLeaveMm) runs_user = false;
    if (kind == OpKind::kEnableLam && (!scenario.machine.lam || !runs_user))
      refuse_at(steps[at].at,
                "found enable_lam, expected a machine with lam and a running process");
    if (kind == OpKind::kUseGlobalAsid && (!scenario.machine.invlpgb || !rules.global_asid))
      refuse_at(
          steps[at].at,
          "found use_global_asid, expected a machine with invlpgb and an era of v6.15 or later");
  }
  if (inside) refuse_at(steps.back().at, "found no unuse_temporary_mm behind use_temporary_mm");
}

void read_programs(const YAML::Node& node, const Scenario& scenario, const Source& source,
                   LitmusFile& file) {
  const u32 nr_cpus = scenario.machine.nr_cpus;
  file.litmus.programs.resize(nr_cpus);
  file.programs.resize(nr_cpus);
  std::vector<Beginning> beginnings(nr_cpus);
  for (const Op& op : file.litmus.before) {
    Beginning& cpu = beginnings[op.cpu];
    if (op.kind == OpKind::kSwitchMm) cpu.runs_user = true;
    if (op.kind == OpKind::kEnterLazy || op.kind == OpKind::kLeaveMm) cpu.runs_user = false;
    if (op.kind == OpKind::kOffline) cpu = {.runs_user = false, .offline = true};
    if (op.kind == OpKind::kOnline) cpu.offline = false;
  }
  const Translator translator(scenario);
  for_each_key(
      node, "CPU: steps",
      [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
        const Cpu cpu = static_cast<Cpu>(parse_count(key, mark_of(at), nr_cpus - 1, "a CPU"));
        const std::vector<Step> steps = read_steps(value, scenario, source);
        if (steps.size() > kMaxProgramSteps)
          refuse(value, fmt::format("at most {} steps a CPU", kMaxProgramSteps));
        std::vector<Op>& ops = file.litmus.programs[cpu];
        for (const Step& step : steps) {
          if (step.verb <= Verb::kMeasure)
            refuse_at(step.at, "found a loop, expected single steps");
          if (step.cpu) refuse_at(step.at, "found `on CPU` in that CPU's own program");
          ops.push_back(translator.op_of(step, cpu));
          file.programs[cpu] += (file.programs[cpu].empty() ? "" : ", then ") + step_text(step);
        }
        check_program(steps, ops, scenario, file.litmus.rules, beginnings[cpu]);
      });
}

Expectation read_expectation(const YAML::Node& node) {
  const std::string text = text_of(node, "holds or a property");
  if (text == "holds") return {true, std::nullopt};
  for (u32 at = 1; at <= static_cast<u32>(Property::kCr3); ++at)
    if (text == name_of(static_cast<Property>(at))) return {true, static_cast<Property>(at)};
  refuse(node, "holds, or a property: P1 to P8, lazy, irq, cr3");
}

void read_hypercalls(const YAML::Node& node, Litmus& litmus) {
  for_each_key(node, "hypercalls",
               [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                 const std::string text = text_of(value, "a word");
                 if (key == "flush") {
                   static constexpr std::string_view kScopes[] = {"whole_tlb", "address_space",
                                                                  "if_cr3_matches", "current_pcid"};
                   const auto found = std::find(std::begin(kScopes), std::end(kScopes), text);
                   if (found == std::end(kScopes))
                     refuse(value, "whole_tlb, address_space, if_cr3_matches or current_pcid");
                   litmus.host_scope = static_cast<HostScope>(found - std::begin(kScopes));
                 } else if (key == "return") {
                   if (text != "done" && text != "early") refuse(value, "done or early");
                   litmus.host_returns_early = text == "early";
                 } else {
                   unknown_key(at, "flush, return");
                 }
               });
}

LitmusFile read(const std::string& text) {
  LitmusFile file;
  Scenario scenario;
  const Source source(text);
  const YAML::Node root = load_document(text);
  YAML::Node version, machine, rules, processes, before, cpus, expect, hypercalls;
  const std::pair<std::string_view, YAML::Node*> keys[] = {
      {"hvtlb-litmus", &version}, {"machine", &machine},       {"rules", &rules},
      {"processes", &processes},  {"before", &before},         {"cpus", &cpus},
      {"expect", &expect},        {"hypercalls", &hypercalls},
  };
  for_each_key(root, "a litmus",
               [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                 if (key == "name") return void(file.litmus.name = text_of(value, "a name"));
                 if (key == "about") return void(file.litmus.about = text_of(value, "one line"));
                 for (const auto& [name, node] : keys)
                   if (key == name) return node->reset(value);
                 unknown_key(at,
                             "hvtlb-litmus, name, about, machine, rules, processes, before, "
                             "cpus, expect, hypercalls");
               });
  for (const auto& [name, node] : keys)
    if (node->IsNull() &&
        (name == "hvtlb-litmus" || name == "machine" || name == "processes" || name == "cpus"))
      refuse(root, fmt::format("a litmus with the key {}", name));
  if (number_of(version, 0, ~u64{0}, "a version") != kLitmusVersion)
    refuse(version, fmt::format("version {}", kLitmusVersion));
  read_machine(machine, scenario, std::nullopt, source);
  if (scenario.machine.nr_cpus > kMaxExploredCpus)
    refuse(machine, fmt::format("at most {} CPUs", kMaxExploredCpus));
  if (!rules.IsNull()) read_rules(rules, scenario);
  read_processes(processes, scenario);
  file.litmus.machine = scenario.machine;
  file.era = scenario.era.empty() ? "filtered" : scenario.era;
  file.set = scenario.set;
  file.litmus.rules = find_era(file.era)->rules;
  for (const std::string& each : file.set) set_rules_field(file.litmus.rules, each);
  file.litmus.mm_names = {"init_mm"};
  for (const Process& each : scenario.processes) {
    file.processes.push_back(each.name);
    file.litmus.mm_names.push_back(each.name);
  }
  if (!hypercalls.IsNull()) read_hypercalls(hypercalls, file.litmus);
  const std::vector<Step> first =
      before.IsNull() ? std::vector<Step>{} : read_steps(before, scenario, source);
  file.litmus.before = ops_before(first, scenario, file.litmus.rules);
  read_programs(cpus, scenario, source, file);
  if (!expect.IsNull())
    for_each_key(expect, "expectations",
                 [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                   if (key != "sc" && key != "tso") unknown_key(at, "sc, tso");
                   (key == "sc" ? file.sc : file.tso) = read_expectation(value);
                 });
  return file;
}

}  // namespace

ScenarioResult<LitmusFile> read_litmus(const std::string& text, const std::string& file) {
  return reading(file, [&] { return read(text); });
}

ScenarioResult<LitmusFile> read_litmus_file(const std::string& path) {
  const ScenarioResult<std::string> text = read_text_file(path);
  if (const auto* error = std::get_if<ScenarioError>(&text)) return *error;
  return read_litmus(std::get<std::string>(text), path == "-" ? "standard input" : path);
}

}  // namespace hvtlb::explore
