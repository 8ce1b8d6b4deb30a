// `hvtlb explore`: every interleaving of a litmus, or the shortest that breaks a property.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/json_lines.h"
#include "cli/progress.h"
#include "explore/counterexample.h"
#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/search.h"
#include "scenario/shown_text.h"
#include "zoo/scenarios.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

/// How many states the search for the shortest counterexample looks at.
constexpr u64 kShortestStates = 500'000;

struct ExploreArguments {
  std::vector<std::string> litmuses;
  std::string memory;  ///< empty: both
  bool no_reduction = false;
  bool json = false;
  bool list = false;
  u64 memory_limit_mib = 2048;
};

std::string_view name_of(MemoryModel model) {
  return model == MemoryModel::kSc ? "sc" : "tso";
}

ScenarioResult<LitmusFile> load(const std::string& name) {
  const std::string_view text = zoo::litmus_text(name);
  return text.empty() ? read_litmus_file(name) : read_litmus(std::string(text), name);
}

std::string verdict_text(const Verdict& verdict) {
  switch (verdict.end) {
    case End::kExhausted: return "holds, exhausted";
    case End::kViolation:
      return fmt::format("VIOLATES {}", hvtlb::name_of(verdict.violation->property));
    case End::kStuck: return "STUCK: programs wait for each other";
    case End::kStopped: return "bounded: stopped";
    case End::kMemory: return "bounded: the memory limit is reached";
    case End::kDepth: return "bounded: a schedule is too long";
  }
  return {};
}

bool is_bounded(const Verdict& verdict) {
  return verdict.end >= End::kStopped;
}

/// Whether it came out as the litmus expects; without an expectation it has to hold.
bool as_expected(const Verdict& verdict, const Expectation& expected) {
  if (verdict.end == End::kExhausted) return !expected.violates;
  return verdict.end == End::kViolation && expected.violates &&
         verdict.violation->property == *expected.violates;
}

std::string why_text(const Violation& violation, const Litmus& litmus) {
  const bool about_page = violation.property <= Property::kP3;
  const std::string mm = violation.mm < litmus.mm_names.size() ? litmus.mm_names[violation.mm]
                                                               : fmt::format("mm {}", violation.mm);
  return fmt::format("{} ({}) is broken on CPU {}, {}{}: {}", hvtlb::name_of(violation.property),
                     meaning_of(violation.property), violation.cpu, mm,
                     about_page ? fmt::format(", page {:#x}", violation.va & kPageMask) : "",
                     violation.why);
}

Json statistics_json(const Statistics& seen) {
  return {{"states", seen.states},
          {"revisits", seen.revisits},
          {"executions", seen.executions},
          {"transitions", seen.transitions},
          {"final_states", seen.final_states},
          {"depth", seen.depth},
          {"bytes", seen.bytes},
          {"seconds", seen.seconds}};
}

/// A violation, the schedule that shows it, and that schedule in words.
struct Counterexample {
  Violation violation;
  std::vector<Action> schedule;
  std::vector<Row> rows;
};

Counterexample counterexample_of(const Litmus& litmus, MemoryModel model, const Verdict& verdict) {
  GuestSystem system(litmus);
  auto best = shortest(system, model, kShortestStates);
  Counterexample result{
      best ? *best->violation : *verdict.violation, best ? best->schedule : verdict.schedule, {}};
  system.note_events();
  result.rows = rows_of(system, model, result.schedule);
  return result;
}

Json counterexample_json(const Counterexample& found, const Litmus& litmus) {
  Json rows = Json::array();
  for (const Row& row : found.rows)
    rows.push_back({{"action", row.action.number()},
                    {"cpu", row.cpu},
                    {"routine", row.routine},
                    {"line", row.line},
                    {"text", row.text}});
  return {{"why", why_text(found.violation, litmus)}, {"steps", rows}};
}

struct Outcome {
  bool unexpected = false;
  bool bounded = false;
};

Outcome explore_one(const LitmusFile& file, MemoryModel model, const ExploreArguments& options,
                    Json& results) {
  GuestSystem system(file.litmus);
  std::atomic<u64> states = 0;
  std::atomic<u64> bytes = 0;
  Options search;
  search.model = model;
  search.reduce = !options.no_reduction;
  search.most_bytes = options.memory_limit_mib << 20;
  search.stop = &interrupted();
  search.progress = [&](const Statistics& seen) {
    states = seen.states;
    bytes = seen.bytes;
  };
  Verdict verdict;
  {
    const Progress progress(
        [&] { return fmt::format("{} states, {} MiB", states.load(), bytes.load() >> 20); });
    verdict = explore::explore(system, search);
  }
  const Statistics& seen = verdict.statistics;
  const Expectation& expected = file.expected(model);
  const Outcome outcome{!is_bounded(verdict) && !as_expected(verdict, expected),
                        is_bounded(verdict)};
  std::optional<Counterexample> found;
  if (verdict.violation) found = counterexample_of(file.litmus, model, verdict);
  if (options.json) {
    Json result{{"litmus", file.litmus.name},
                {"memory", name_of(model)},
                {"era", file.era},
                {"set", file.set},
                {"verdict", is_bounded(verdict)              ? "bounded"
                            : verdict.end == End::kExhausted ? "holds"
                            : verdict.end == End::kStuck     ? "stuck"
                                                             : "violated"},
                {"as_expected", !outcome.unexpected && !outcome.bounded},
                {"statistics", statistics_json(seen)}};
    if (verdict.violation) result["property"] = hvtlb::name_of(verdict.violation->property);
    if (found) result["counterexample"] = counterexample_json(*found, file.litmus);
    results.push_back(std::move(result));
    return outcome;
  }
  fmt::print("  {:3}  {}{}: {} states, {} revisits, {} executions, depth {}, {:.3f} s\n",
             name_of(model), verdict_text(verdict),
             !expected.given || outcome.bounded ? ""
             : outcome.unexpected               ? ", NOT AS EXPECTED"
                                                : ", as expected",
             seen.states, seen.revisits, seen.executions, seen.depth, seen.seconds);
  if (found)
    fmt::print("\n{}\n{}\n\n", table_of(found->rows, file.litmus.machine.nr_cpus),
               why_text(found->violation, file.litmus));
  return outcome;
}

void print_head(const LitmusFile& file) {
  std::string rules = file.era;
  for (const std::string& each : file.set) rules += ", " + each;
  fmt::print("{}\n  {}\n  rules: {}; {}\n", file.litmus.name, file.litmus.about, rules,
             file.litmus.machine.hyperv ? "Hyper-V" : "native");
  for (Cpu cpu = 0; cpu < file.programs.size(); ++cpu)
    fmt::print("  CPU {}: {}\n", cpu, file.programs[cpu].empty() ? "-" : file.programs[cpu]);
}

int run_explore(const ExploreArguments& options) {
  if (options.list) {
    for (const auto& [id, text] : zoo::litmuses()) {
      const auto file = read_litmus(std::string(text), std::string(id));
      fmt::print("{:18} {}\n", id, std::get<LitmusFile>(file).litmus.name);
    }
    return kExitHolds;
  }
  if (options.litmuses.empty()) {
    fmt::print(stderr, "found no litmus, expected a file or a name (hvtlb explore --list)\n");
    return kExitUsage;
  }
  watch_interrupt();
  Json results = Json::array();
  Outcome all;
  for (const std::string& name : options.litmuses) {
    const auto loaded = load(name);
    if (const auto* error = std::get_if<ScenarioError>(&loaded)) {
      fmt::print(stderr, "{}\n", error->to_string());
      return kExitUsage;
    }
    const LitmusFile& file = std::get<LitmusFile>(loaded);
    if (!options.json) print_head(file);
    for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
      if (!options.memory.empty() && options.memory != name_of(model)) continue;
      if (interrupted()) break;
      const Outcome outcome = explore_one(file, model, options, results);
      all.unexpected |= outcome.unexpected;
      all.bounded |= outcome.bounded;
    }
  }
  if (options.json)
    fmt::print("{}\n", Json{{"schema", "hvtlb-explore-1"}, {"results", results}}.dump(2));
  if (interrupted()) return kExitInterrupted;
  if (all.unexpected) return kExitViolated;
  return all.bounded ? kExitUnknown : kExitHolds;
}

}  // namespace

Command make_explore(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "explore", "Every interleaving of a litmus, or the shortest that breaks a property");
  auto options = std::make_shared<ExploreArguments>();
  sub->add_option("LITMUS", options->litmuses, "a litmus file, or a name that --list shows")
      ->expected(0, 1024);
  sub->add_option("--memory", options->memory, "one memory model only (default: both)")
      ->check(CLI::IsMember({"sc", "tso"}));
  sub->add_flag("--no-reduction", options->no_reduction, "without partial-order reduction");
  sub->add_option("--memory-limit", options->memory_limit_mib,
                  "MiB for remembered states (default 2048)")
      ->check(CLI::Range(u64{1}, u64{1} << 20));
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/explore.json)");
  sub->add_flag("--list", options->list, "the litmuses that come with the program");
  sub->footer(
      "Exit codes: 0 all came out as the litmus expects (without an expectation: everything\n"
      "holds), 2 a bound was reached, 3 something else came out, 130 stopped by Ctrl-C.\n"
      "Example: hvtlb explore Z03 --memory tso");
  return {sub, [options] { return run_explore(*options); }};
}

}  // namespace hvtlb::cli
