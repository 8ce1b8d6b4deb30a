// Reads a scenario file: YAML with short forms. Every refusal names the file, the line and the
// column.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <yaml-cpp/yaml.h>

#include "model/eras.h"
#include "scenario/scenario.h"
#include "scenario/second_document.h"
#include "scenario/shown_text.h"
#include "scenario/step_text.h"

namespace hvtlb {
namespace {

Mark mark_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {1, 1};  // an empty file
  return {static_cast<u32>(mark.line + 1), static_cast<u32>(mark.column + 1)};
}

[[noreturn]] void refuse(const YAML::Node& node, std::string_view expected) {
  std::string found;
  switch (node.Type()) {
    case YAML::NodeType::Scalar: found = fmt::format("'{}'", shown_text(node.Scalar())); break;
    case YAML::NodeType::Sequence: found = "a list"; break;
    case YAML::NodeType::Map: found = "a mapping"; break;
    default: found = "nothing"; break;
  }
  throw StepTextError{mark_of(node), fmt::format("found {}, expected {}", found, expected)};
}

/// The text as it was read, to find the place of a word inside a scalar.
class Source {
 public:
  explicit Source(const std::string& text) : text_(text) {}

  /// Calls `parser(scalar's text, its place)`. A refusal names the place of the word, or that of
  /// the scalar where the file holds other characters than the scalar (escapes, folded lines,
  /// aliases).
  template <class Parse>
  auto parse(const YAML::Node& node, Parse parser) const {
    const auto begin = begin_of(node);
    try {
      return parser(std::string_view(node.Scalar()), begin.value_or(mark_of(node)));
    } catch (StepTextError& error) {
      if (!begin) error.at = mark_of(node);
      throw;
    }
  }

  /// Where the scalar's text begins, if it stands in the file as it is.
  std::optional<Mark> begin_of(const YAML::Node& node) const {
    const YAML::Mark mark = node.Mark();
    if (mark.is_null() || mark.pos < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at >= text_.size()) return std::nullopt;
    const bool quoted = text_[at] == '"' || text_[at] == '\'';
    const std::string& scalar = node.Scalar();
    if (text_.compare(at + quoted, scalar.size(), scalar) != 0) return std::nullopt;
    Mark begin = mark_of(node);
    begin.column += quoted;
    return begin;
  }

 private:
  const std::string& text_;
};

/// Calls `visit(key, key node, value)` for every entry; refuses doubled keys.
template <class Visit>
void for_each_key(const YAML::Node& map, std::string_view what, Visit visit) {
  if (!map.IsMap()) refuse(map, what);
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) refuse(entry.first, "a key");
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      throw StepTextError{mark_of(entry.first), fmt::format("found '{}' twice", shown_text(key))};
    visit(key, entry.first, entry.second);
  }
}

[[noreturn]] void unknown_key(const YAML::Node& key, std::string_view known) {
  throw StepTextError{mark_of(key), fmt::format("found the key '{}', expected one of {}",
                                                shown_text(key.Scalar()), known)};
}

std::string text_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) refuse(node, what);
  return node.Scalar();
}

u64 number_of(const YAML::Node& node, u64 least, u64 most, std::string_view what) {
  if (!node.IsScalar()) refuse(node, what);
  const u64 value = parse_count(node.Scalar(), mark_of(node), most, what);
  if (value < least) refuse(node, fmt::format("{} of at least {}", what, least));
  return value;
}

bool flag_of(const YAML::Node& node) {
  if (node.IsScalar() && node.Scalar() == "true") return true;
  if (node.IsScalar() && node.Scalar() == "false") return false;
  refuse(node, "true or false");
}

CpuMask cpus_of(const YAML::Node& node, u32 nr_cpus, const Source& source) {
  CpuMask mask(nr_cpus);
  if (!node.IsScalar()) refuse(node, "CPUs");
  for (const auto& [first, last] : source.parse(node, parse_cpu_list)) {
    if (last >= nr_cpus) refuse(node, fmt::format("CPUs below {}", nr_cpus));
    for (Cpu cpu = first; cpu <= last; ++cpu) mask.set(cpu);
  }
  return mask;
}

void read_vp(const YAML::Node& node, VpNumbering& vp) {
  constexpr u64 kMostVps = u64{64} * 64;
  if (node.IsScalar()) {
    if (node.Scalar() != "identity") refuse(node, "identity, {offset: N, stride: N} or a list");
    return;
  }
  if (node.IsSequence()) {
    vp.kind = VpNumbering::Kind::kList;
    for (const YAML::Node& each : node)
      vp.list.push_back(each.IsScalar() && (each.Scalar() == "-1" || each.Scalar() == "invalid")
                            ? kVpInvalid
                            : static_cast<u32>(number_of(each, 0, kMostVps - 1, "a VP index")));
    return;
  }
  for_each_key(node, "identity, {offset: N, stride: N} or a list",
               [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                 if (key == "offset")
                   vp.offset = static_cast<u32>(number_of(value, 0, kMostVps - 1, "an offset"));
                 else if (key == "stride")
                   vp.stride = static_cast<u32>(number_of(value, 1, kMostVps - 1, "a stride"));
                 else
                   unknown_key(at, "offset, stride");
               });
}

/// Gives every CPU its VP index. VP indices must differ and fit 64 banks of 64.
void number_vps(const YAML::Node& at, Scenario& scenario) {
  MachineShape& machine = scenario.machine;
  const VpNumbering& vp = scenario.vp;
  if (vp.kind == VpNumbering::Kind::kList) {
    if (vp.list.size() != machine.nr_cpus)
      throw StepTextError{mark_of(at),
                          fmt::format("found {} VP ind{}, expected {}, one a CPU", vp.list.size(),
                                      vp.list.size() == 1 ? "ex" : "ices", machine.nr_cpus)};
    machine.vp_index = vp.list;
  } else {
    const u64 last = vp.offset + u64{vp.stride} * (machine.nr_cpus - 1);
    if (last >= u64{64} * 64)
      throw StepTextError{mark_of(at), fmt::format("found VP index {} for the last of {} CPUs, "
                                                   "expected at most 4095",
                                                   last, machine.nr_cpus)};
    machine.vp_index.clear();
    for (Cpu cpu = 0; cpu < machine.nr_cpus; ++cpu)
      machine.vp_index.push_back(vp.offset + vp.stride * cpu);
  }
  std::set<u32> seen;
  for (u32 index : machine.vp_index)
    if (index != kVpInvalid && !seen.insert(index).second)
      throw StepTextError{mark_of(at), fmt::format("found VP index {} twice", index)};
}

constexpr std::string_view kMachineKeys =
    "cpus, present, vp, hv_max_vp_index, hz, jiffies, pcid, lam, pti, path, ex_hint, host";

/// The kernel's own is the highest index of all CPUs. A lower one would leave banks of an earlier
/// call in the set.
void check_max_vp_index(const YAML::Node& at, const MachineShape& machine) {
  u32 highest = 0;
  for (const u32 index : machine.vp_index)
    if (index != kVpInvalid) highest = std::max(highest, index);
  if (*machine.hv_max_vp_index < highest)
    refuse(at, fmt::format("at least {}, the highest VP index of a CPU", highest));
}

void read_machine(const YAML::Node& node, Scenario& scenario, std::optional<u64> cpus,
                  const Source& source) {
  MachineShape& machine = scenario.machine;
  YAML::Node present;
  YAML::Node max_vp_at;
  YAML::Node vp_at = node;
  bool has_cpus = false;
  for_each_key(
      node, "the machine",
      [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
        if (key == "cpus") {
          machine.nr_cpus = static_cast<u32>(number_of(value, 1, kMaxCpus, "a number of CPUs"));
          has_cpus = true;
        } else if (key == "present") {
          present.reset(value);
        } else if (key == "vp") {
          read_vp(value, scenario.vp);
          vp_at.reset(value);
        } else if (key == "hv_max_vp_index") {
          machine.hv_max_vp_index = static_cast<u32>(number_of(value, 0, 65535, "a VP index"));
          max_vp_at.reset(value);
        } else if (key == "hz") {
          machine.hz = number_of(value, 1, 1'000'000, "ticks a second");
        } else if (key == "jiffies") {
          machine.jiffies = number_of(value, 0, ~u64{0} >> 2, "jiffies");
        } else if (key == "pcid") {
          machine.pcid = flag_of(value);
        } else if (key == "lam") {
          machine.lam = flag_of(value);
        } else if (key == "pti") {
          machine.pti = flag_of(value);
        } else if (key == "path") {
          const std::string path = text_of(value, "hyperv or native");
          if (path != "hyperv" && path != "native") refuse(value, "hyperv or native");
          machine.hyperv = path == "hyperv";
        } else if (key == "host") {
          const auto profile = host::find_profile(text_of(value, "a host"));
          if (!profile) refuse(value, "one of tlfs, kvm, openhcl, xen");
          scenario.host = *profile;
        } else if (key == "ex_hint") {
          machine.ex_processor_masks_recommended = flag_of(value);
        } else {
          unknown_key(at, kMachineKeys);
        }
      });
  if (cpus)
    machine.nr_cpus = static_cast<u32>(*cpus);
  else if (!has_cpus)
    refuse(node, "a machine with the key cpus");
  if (present.IsDefined() && !present.IsNull())
    machine.present = cpus_of(present, machine.nr_cpus, source);
  number_vps(vp_at, scenario);
  if (machine.hv_max_vp_index) check_max_vp_index(max_vp_at, machine);
}

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

/// Reads steps and keeps count of them: a file with aliases can name far more than it holds.
class StepReader {
 public:
  StepReader(const Scenario& scenario, const Source& source)
      : scenario_(scenario), source_(source) {}

  std::vector<Step> read(const YAML::Node& node, u32 depth) {
    std::vector<Step> steps;
    if (depth > kMaxScenarioDepth)
      refuse(node, fmt::format("loops at most {} deep", kMaxScenarioDepth));
    if (node.IsScalar()) {
      read_line(node, steps);
    } else if (node.IsSequence()) {
      for (const YAML::Node& each : node) read_one(each, depth, steps);
    } else {
      read_one(node, depth, steps);
    }
    return steps;
  }

 private:
  void read_one(const YAML::Node& node, u32 depth, std::vector<Step>& steps) {
    if (node.IsScalar()) return read_line(node, steps);
    if (!node.IsMap()) refuse(node, "a step or a loop");
    for_each_key(node, "a loop",
                 [&](const std::string&, const YAML::Node& at, const YAML::Node& value) {
                   count(at);
                   Step loop = source_.parse(at, parse_loop_head);
                   for (const auto& [first, last] : loop.cpus.ranges) check_cpu(last, mark_of(at));
                   loop.body = read(value, depth + 1);
                   steps.push_back(std::move(loop));
                 });
  }

  /// `run A, then idle`: several steps in one line.
  void read_line(const YAML::Node& node, std::vector<Step>& steps) {
    static constexpr std::string_view kThen = ", then ";
    const bool exact = source_.begin_of(node).has_value();
    source_.parse(node, [&](std::string_view text, Mark at) {
      for (std::size_t next = 0;;) {
        count(node);
        const std::size_t end = std::min(text.find(kThen, next), text.size());
        const Mark here{at.line, at.column + static_cast<u32>(next)};
        Step step = parse_step(text.substr(next, end - next), here);
        if (step.cpu) check_cpu(*step.cpu, here);
        if (!exact) step.at = mark_of(node);  // for what is refused when it runs
        steps.push_back(std::move(step));
        if (end == text.size()) return;
        next = end + kThen.size();
      }
    });
  }

  void check_cpu(Cpu cpu, Mark at) const {
    if (cpu >= scenario_.machine.nr_cpus)
      throw StepTextError{
          at, fmt::format("found CPU {}, expected CPUs below {}", cpu, scenario_.machine.nr_cpus)};
  }

  void count(const YAML::Node& node) {
    if (++steps_ > kMaxScenarioSteps)
      refuse(node, fmt::format("at most {} steps", kMaxScenarioSteps));
  }

  const Scenario& scenario_;
  const Source& source_;
  u64 steps_ = 0;
};

/// How many operations a run comes to, at most; saturates. An iteration without any takes time,
/// too, and counts as one.
u64 operations(const std::vector<Step>& steps, u32 nr_cpus) {
  u64 sum = 0;
  for (const Step& step : steps) {
    u64 each = 3;  // a fork, an exec or an exit is that many
    if (!step.body.empty() || step.verb <= Verb::kMeasure) {
      const u64 times = step.verb == Verb::kEachCpu ? nr_cpus : step.count;
      // Every CPU is looked up in the loop's list, which may be longer than the body.
      const u64 least = std::max<u64>(step.cpus.ranges.size(), 1);
      const u64 body = std::max(operations(step.body, nr_cpus), least);
      each = times > kMaxOperations / body ? kMaxOperations + 1 : std::max(times * body, u64{1});
    }
    sum = std::min(sum + each, kMaxOperations + 1);
  }
  return sum;
}

Scenario read(const std::string& text, const std::string& file, std::optional<u64> cpus) {
  Scenario scenario;
  scenario.file = file;
  if (cpus && (*cpus < 1 || *cpus > kMaxCpus))
    throw StepTextError{{0, 0}, fmt::format("found {} CPUs, expected 1 to {}", *cpus, kMaxCpus)};
  if (text.size() > kMaxScenarioBytes)
    throw StepTextError{
        {1, 1}, fmt::format("found {} bytes, expected at most {}", text.size(), kMaxScenarioBytes)};
  const Source source(text);
  const YAML::Node root = YAML::Load(text);
  if (root.IsMap())
    if (const auto second = second_document(text))
      throw StepTextError{*second, "found a second document, expected one"};
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
  scenario.steps = StepReader(scenario, source).read(steps, 1);
  if (operations(scenario.steps, scenario.machine.nr_cpus) > kMaxOperations)
    throw StepTextError{mark_of(steps), fmt::format("found more than {0} operations in all, "
                                                    "expected at most {0}",
                                                    kMaxOperations)};
  return scenario;
}

}  // namespace

std::string ScenarioError::to_string() const {
  if (at.line == 0) return fmt::format("{}: {}", escaped_text(file), what);
  return fmt::format("{}:{}:{}: {}", escaped_text(file), at.line, at.column, what);
}

ScenarioResult<Scenario> read_scenario(const std::string& text, const std::string& file,
                                       std::optional<u64> cpus) {
  try {
    return read(text, file, cpus);
  } catch (const StepTextError& error) {
    return ScenarioError{file, error.at, error.what};
  } catch (const YAML::Exception& error) {
    const Mark at{static_cast<u32>(error.mark.line + 1), static_cast<u32>(error.mark.column + 1)};
    return ScenarioError{file, at, fmt::format("found no YAML: {}", escaped_text(error.msg))};
  }
}

ScenarioResult<Scenario> read_scenario_file(const std::string& path, std::optional<u64> cpus) {
  std::ifstream opened;
  if (path != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      return ScenarioError{path, {0, 0}, "is a directory, expected a scenario file"};
    opened.open(path, std::ios::binary);
    if (!opened) return ScenarioError{path, {0, 0}, "cannot be opened"};
  }
  std::istream& in = path == "-" ? std::cin : opened;
  std::string text(kMaxScenarioBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return ScenarioError{path, {0, 0}, "cannot be read"};
  text.resize(static_cast<std::size_t>(in.gcount()));
  return read_scenario(text, path == "-" ? "standard input" : path, cpus);
}

}  // namespace hvtlb
