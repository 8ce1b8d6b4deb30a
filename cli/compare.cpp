// `hvtlb compare`: one scenario under two or more eras.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/rules_option.h"
#include "report/compare_html.h"
#include "report/compare_json.h"
#include "report/compare_text.h"
#include "scenario/builtin.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

/// What runs without an argument: the regression with its three states of the other CPUs.
constexpr std::string_view kRegression = "regression";

struct CompareArguments {
  std::string scenario{kRegression};
  std::vector<std::string> eras;
  std::vector<std::string> set;
  std::optional<std::string> cpus;
  std::optional<std::string> cost;
  std::optional<std::string> html;  ///< a file, `-` for standard output
  std::size_t rows = 24;
  bool json = false;
  bool detail = false;
  bool cpu_lists = false;
  bool print_scenario = false;
  bool list = false;
};

int usage(const std::string& what) {
  fmt::print(stderr, "hvtlb compare: {}\n", what);
  return kExitUsage;
}

/// The scenario's own name, a built-in's name, or a file; a built-in group gives several.
std::vector<std::string> scenario_names(const std::string& name) {
  if (name != kRegression) return {name};
  return {"regression-lazy", "regression-init", "regression-busy"};
}

/// Standard input, or as much of it as is needed to see that it is too long.
std::string read_standard_input() {
  std::string text(kMaxScenarioBytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  return text;
}

/// `input`: what standard input holds. A sweep loads the scenario several times, and that can be
/// read only once.
ScenarioResult<Scenario> load(const std::string& name, std::optional<u64> cpus,
                              const std::string& input = {}) {
  if (name == "-") return read_scenario(input, "standard input", cpus);
  if (const BuiltinScenario* builtin = find_builtin_scenario(name))
    return read_scenario(std::string(builtin->text), name, cpus);
  auto read = read_scenario_file(name, cpus);
  std::error_code ignored;
  auto* error = std::get_if<ScenarioError>(&read);
  if (error != nullptr && !std::filesystem::exists(name, ignored))
    error->what += ", and no built-in scenario has this name (hvtlb compare --list)";
  return read;
}

/// `8,32,96` -> numbers; the message of what is wrong in `error`.
std::vector<u64> cpu_counts(const std::string& text, std::string& error) {
  std::vector<u64> counts;
  for (std::size_t next = 0; next <= text.size();) {
    const std::size_t comma = std::min(text.find(',', next), text.size());
    const std::string part = text.substr(next, comma - next);
    const bool digits = !part.empty() && part.size() <= 9 &&
                        part.find_first_not_of("0123456789") == std::string::npos;
    const u64 count = digits ? std::stoull(part) : 0;
    if (count < 1 || count > kMaxCpus) {
      error = fmt::format("--cpus: found '{}', expected numbers from 1 to {} separated by commas",
                          shown_text(part), kMaxCpus);
      return {};
    }
    counts.push_back(count);
    next = comma + 1;
  }
  return counts;
}

/// `hypercall=1.2,target=0.3,ipi=1.5,local=0.2`, in microseconds.
std::optional<CostModel> cost_model(const std::string& text, std::string& error) {
  CostModel cost;
  std::vector<std::string> names;
  for (std::size_t next = 0; next <= text.size();) {
    const std::size_t comma = std::min(text.find(',', next), text.size());
    const std::string part = text.substr(next, comma - next);
    const auto equals = part.find('=');
    const std::string name = part.substr(0, equals);
    double* field = name == "hypercall" ? &cost.hypercall
                    : name == "target"  ? &cost.target
                    : name == "ipi"     ? &cost.ipi
                    : name == "local"   ? &cost.local
                                        : nullptr;
    const std::string number = equals == std::string::npos ? "" : part.substr(equals + 1);
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (field == nullptr || number.empty() || *end != '\0' || !(value >= 0) || value > 1e9) {
      error = fmt::format("--cost: found '{}', expected hypercall=US,target=US,ipi=US,local=US",
                          shown_text(part));
      return std::nullopt;
    }
    names.push_back(name);
    if (named_twice(names)) {
      error = fmt::format("--cost: found {} twice", name);
      return std::nullopt;
    }
    *field = value;
    next = comma + 1;
  }
  return cost;
}

/// The rules to run: those of the command line, else the scenario's own era beside the fix.
std::vector<NamedRules> chosen_rules(const CompareArguments& options, const Scenario& scenario,
                                     std::string& error) {
  std::vector<std::string> names = options.eras;
  if (const auto twice = named_twice(names)) {
    error = fmt::format("--era: found '{}' twice", shown_text(*twice));
    return {};
  }
  if (names.empty()) {
    names = {std::string(kEraBeforeFix), std::string(kEraWithFix)};
    if (!scenario.era.empty() && scenario.era != names[0] && scenario.era != names[1])
      names.insert(names.begin(), scenario.era);
  }
  std::vector<NamedRules> rules;
  for (const std::string& name : names) {
    std::vector<std::string> set;
    if (name == scenario.era) set = scenario.set;
    set.insert(set.end(), options.set.begin(), options.set.end());
    std::optional<NamedRules> named = named_rules(name, set, error);
    if (!named) return {};
    rules.push_back(*std::move(named));
  }
  return rules;
}

/// Says so when the eras of the command line leave the scenario's own rules out.
void note_unused_rules(const CompareArguments& options, const Scenario& scenario) {
  if (options.eras.empty() || scenario.era.empty() ||
      std::find(options.eras.begin(), options.eras.end(), scenario.era) != options.eras.end())
    return;
  std::string own = scenario.era;
  for (const std::string& assignment : scenario.set) own += ' ' + assignment;
  fmt::print(stderr, "hvtlb compare: note: the rules of {} ({}) are not used, --era names others\n",
             escaped_text(scenario.file), own);
}

/// Why this cannot be printed as one scenario, or nothing.
std::string not_printable(const CompareArguments& options, std::size_t nr_sizes) {
  if (scenario_names(options.scenario).size() > 1)
    return fmt::format(
        "--print-scenario: found {}, which is three, expected one scenario: "
        "regression-lazy, regression-init, regression-busy or another",
        kRegression);
  if (nr_sizes > 1)
    return fmt::format("--print-scenario: found {} numbers of CPUs, expected one", nr_sizes);
  return {};
}

void list_builtin() {
  fmt::print("built-in scenarios (hvtlb compare NAME):\n");
  fmt::print("  {:16} {}\n", kRegression, "the three regression-* scenarios together (default)");
  for (const BuiltinScenario& each : builtin_scenarios()) {
    const auto scenario = load(std::string(each.name), std::nullopt);
    if (const Scenario* read = std::get_if<Scenario>(&scenario))
      fmt::print("  {:16} {}\n", each.name, read->name);
  }
}

/// 3 when a verdict is violated that no known fault of the era explains.
int exit_code(const std::vector<Comparison>& runs) {
  for (const Comparison& run : runs) {
    if (run.stopped) return kExitInterrupted;
    for (const EraResult& era : run.eras)
      if (era.nr_violations != 0 && !era.known_fault) return kExitViolated;
  }
  return kExitHolds;
}

int write_html(const std::string& path, const std::vector<Comparison>& runs) {
  if (path == "-") {
    fmt::print("{}", compare_html(runs));
    return kExitHolds;
  }
  std::ofstream file(path);
  file << compare_html(runs);
  file.close();
  if (!file) return usage(fmt::format("--html: '{}' cannot be written", escaped_text(path)));
  return kExitHolds;
}

int run_compare(const CompareArguments& options) {
  if (options.list) {
    list_builtin();
    return kExitHolds;
  }
  std::string error;
  std::vector<u64> counts;
  if (options.cpus) counts = cpu_counts(*options.cpus, error);
  std::optional<CostModel> cost;
  if (error.empty() && options.cost) cost = cost_model(*options.cost, error);
  if (error.empty() && options.print_scenario) error = not_printable(options, counts.size());
  const bool html_only = options.html == "-";
  if (error.empty() && html_only && options.json)
    error = "--html - and --json both write to standard output, expected one of them";
  if (!error.empty()) return usage(error);
  std::vector<std::optional<u64>> sizes(counts.begin(), counts.end());
  if (sizes.empty()) sizes.emplace_back();

  const std::string input = options.scenario == "-" ? read_standard_input() : std::string();
  if (std::cin.bad() || std::ferror(stdin) != 0) return usage("standard input: cannot be read");
  watch_interrupt();
  std::vector<Comparison> runs;
  std::atomic<u64> flushes = 0;
  const Progress progress(
      [&] { return fmt::format("hvtlb compare: {} flushes simulated", flushes.load()); });
  for (const auto& cpus : sizes) {
    for (const std::string& name : scenario_names(options.scenario)) {
      const auto loaded = load(name, cpus, input);
      if (const auto* wrong = std::get_if<ScenarioError>(&loaded)) return usage(wrong->to_string());
      const Scenario& scenario = std::get<Scenario>(loaded);
      if (options.print_scenario) {
        fmt::print("{}", print_scenario(scenario));
        continue;
      }
      const std::vector<NamedRules> rules = chosen_rules(options, scenario, error);
      if (rules.empty()) return usage(error);
      if (&cpus == sizes.data()) note_unused_rules(options, scenario);
      auto result = compare(scenario, rules, &interrupted(), &flushes);
      if (const auto* wrong = std::get_if<ScenarioError>(&result)) return usage(wrong->to_string());
      runs.push_back(std::get<Comparison>(std::move(result)));
      if (runs.back().stopped) break;
    }
    if (!runs.empty() && runs.back().stopped) break;
  }
  if (options.print_scenario) return kExitHolds;
  if (options.html && write_html(*options.html, runs) != kExitHolds) return kExitUsage;
  if (html_only) return exit_code(runs);
  if (options.json) {
    fmt::print("{}\n", compare_json(runs, options.rows, cost ? &*cost : nullptr).dump(2));
    return exit_code(runs);
  }
  const CompareTextOptions text{options.rows, options.cpu_lists, cost};
  if (runs.size() == 1 || options.detail) {
    for (const Comparison& each : runs)
      fmt::print("{}{}", &each == runs.data() ? "" : "\n\n", compare_text(each, text));
  } else {
    fmt::print("{}", sweep_text(runs, text));
  }
  return exit_code(runs);
}

}  // namespace

Command make_compare(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "compare", "The main job: one scenario under two or more eras, before and after the fix");
  auto options = std::make_shared<CompareArguments>();
  sub->add_option("SCENARIO", options->scenario,
                  "a scenario file (- is standard input) or a built-in's name")
      ->capture_default_str();
  sub->add_option("--era", options->eras, "an era to run under (repeatable)")
      ->allow_extra_args(false)
      ->default_str("v6.17.5 filtered");
  sub->add_option("--set", options->set,
                  "FIELD=VALUE: one rule field, for every era shown (repeatable; see hvtlb eras)")
      ->allow_extra_args(false);
  sub->add_option("--cpus", options->cpus, "run with so many CPUs; a list 8,32,96 sweeps");
  sub->add_option("--rows", options->rows, "how many rows of flushes to show at the most")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  sub->add_flag("--detail", options->detail, "flush by flush also where several runs are shown");
  sub->add_flag("--cpu-lists", options->cpu_lists, "name the CPUs, not only their number");
  sub->add_option("--cost", options->cost,
                  "microseconds: hypercall=US,target=US,ipi=US,local=US; off by default");
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/compare.json)");
  sub->add_option("--html", options->html,
                  "write a page with a picture to FILE (- is standard output)");
  sub->add_flag("--print-scenario", options->print_scenario,
                "print it in canonical form, run nothing");
  sub->add_flag("--list", options->list, "list the built-in scenarios");
  sub->footer(fmt::format(
      "Limits: {} CPUs, {} mms alive at once, {} repeats of a loop, {} operations in all, {} "
      "steps,\n"
      "{} bytes of scenario.\n"
      "Exit codes: 0 all verdicts hold, or only known faults of the eras violate them, 1 bad "
      "usage\n"
      "or input, 3 a verdict is violated that no known fault explains.\n"
      "Examples:\n"
      "  hvtlb compare --cpus 32,96\n"
      "  hvtlb compare dataloader --era v6.4 --era v6.17.5 --era filtered",
      kMaxCpus, kMaxMms, kMaxRepeats, kMaxOperations, kMaxScenarioSteps, kMaxScenarioBytes));
  return {sub, [options] { return run_compare(*options); }};
}

}  // namespace hvtlb::cli
