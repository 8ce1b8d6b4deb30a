// `hvtlb explore`: every interleaving of a litmus, or the shortest that breaks a property.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/explore_json.h"
#include "cli/progress.h"
#include "explore/guest_system.h"
#include "explore/search.h"
#include "scenario/yaml_text.h"
#include "zoo/scenarios.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

/// How many states the search for the shortest counterexample looks at.
constexpr u64 kShortestStates = 500'000;

struct ExploreArguments {
  std::vector<std::string> litmuses;
  std::string replay;  ///< a file
  std::string memory;  ///< empty: both
  bool no_reduction = false;
  bool json = false;
  bool list = false;
  u64 memory_limit_mib = 2048;
};

ScenarioResult<LitmusInput> load(const std::string& name) {
  const std::string_view text = zoo::litmus_text(name);
  if (!text.empty()) return litmus_from(std::string(text), name);
  const ScenarioResult<std::string> read = read_text_file(name);
  if (const auto* error = std::get_if<ScenarioError>(&read)) return *error;
  return litmus_from(std::get<std::string>(read), name == "-" ? "standard input" : name);
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

Counterexample counterexample_of(const Litmus& litmus, MemoryModel model, const Verdict& verdict) {
  GuestSystem system(litmus);
  auto best = shortest(system, model, kShortestStates);
  Counterexample result{
      best ? *best->violation : *verdict.violation, best ? best->schedule : verdict.schedule, {}};
  system.note_events();
  result.rows = rows_of(system, model, result.schedule);
  return result;
}

struct Outcome {
  bool unexpected = false;
  bool bounded = false;
};

Verdict search(const LitmusInput& litmus, MemoryModel model, const ExploreArguments& arguments) {
  GuestSystem system(litmus.file.litmus);
  std::atomic<u64> states = 0;
  std::atomic<u64> bytes = 0;
  Options options;
  options.model = model;
  options.reduce = !arguments.no_reduction;
  options.most_bytes = arguments.memory_limit_mib << 20;
  options.stop = &interrupted();
  options.progress = [&](const Statistics& seen) {
    states = seen.states;
    bytes = seen.bytes;
  };
  const Progress progress(
      [&] { return fmt::format("{} states, {} MiB", states.load(), bytes.load() >> 20); });
  return explore::explore(system, options);
}

void print_result(const Searched& searched, const Outcome& outcome) {
  const LitmusFile& file = searched.litmus.file;
  const Statistics& seen = searched.verdict.statistics;
  fmt::print("  {:3}  {}{}: {} states, {} revisits, {} executions, depth {}, {:.3f} s\n",
             name_of(searched.model), verdict_text(searched.verdict),
             !file.expected(searched.model).given || outcome.bounded ? ""
             : outcome.unexpected                                    ? ", NOT AS EXPECTED"
                                                                     : ", as expected",
             seen.states, seen.revisits, seen.executions, seen.depth, seen.seconds);
  if (const auto& found = searched.counterexample)
    fmt::print("\n{}\n{}\n\n", table_of(found->rows, file.litmus.machine.nr_cpus),
               why_text(found->violation, file.litmus));
}

Outcome explore_one(const LitmusInput& litmus, MemoryModel model, const ExploreArguments& arguments,
                    Json& results) {
  Searched searched{litmus, model, !arguments.no_reduction, search(litmus, model, arguments), {}};
  const Verdict& verdict = searched.verdict;
  const Outcome outcome{!is_bounded(verdict) && !as_expected(verdict, litmus.file.expected(model)),
                        is_bounded(verdict)};
  if (verdict.violation)
    searched.counterexample = counterexample_of(litmus.file.litmus, model, verdict);
  if (arguments.json)
    results.push_back(result_json(searched));
  else
    print_result(searched, outcome);
  return outcome;
}

int run_explore(const ExploreArguments& options) {
  if (options.list) {
    for (const auto& [id, text] : zoo::litmuses()) {
      const auto file = read_litmus(std::string(text), std::string(id));
      fmt::print("{:18} {}\n", id, std::get<LitmusFile>(file).litmus.name);
    }
    return kExitHolds;
  }
  if (!options.replay.empty()) return replay_counterexamples(options.replay);
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
    const LitmusInput& litmus = std::get<LitmusInput>(loaded);
    if (!options.json) print_head(litmus.file);
    for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
      if (!options.memory.empty() && options.memory != name_of(model)) continue;
      if (interrupted()) break;
      const Outcome outcome = explore_one(litmus, model, options, results);
      all.unexpected |= outcome.unexpected;
      all.bounded |= outcome.bounded;
    }
  }
  if (options.json)
    fmt::print("{}\n", Json{{"schema", kExploreSchema}, {"results", results}}.dump(2));
  if (interrupted()) return kExitInterrupted;
  if (all.unexpected) return kExitViolated;
  return all.bounded ? kExitUnknown : kExitHolds;
}

}  // namespace

Command make_explore(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "explore", "Every interleaving of a litmus, or the shortest that breaks a property");
  auto options = std::make_shared<ExploreArguments>();
  CLI::Option* litmuses =
      sub->add_option("LITMUS", options->litmuses, "a litmus file, or a name that --list shows")
          ->expected(0, 1024);
  sub->add_option("--memory", options->memory, "one memory model only (default: both)")
      ->check(CLI::IsMember({"sc", "tso"}));
  sub->add_flag("--no-reduction", options->no_reduction, "without partial-order reduction");
  sub->add_option("--memory-limit", options->memory_limit_mib,
                  "MiB for remembered states (default 2048)")
      ->check(CLI::Range(u64{1}, u64{1} << 20));
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/explore.json)");
  sub->add_option("--replay", options->replay,
                  "runs the counterexamples of a file that --json has written once more")
      ->excludes(litmuses);
  sub->add_flag("--list", options->list, "the litmuses that come with the program");
  sub->footer(
      "Exit codes: 0 all came out as the litmus expects (without an expectation: everything\n"
      "holds), 2 a bound was reached, 3 something else came out, 130 stopped by Ctrl-C.\n"
      "With --replay: 3 a counterexample is one, at the same step; 0 none is.\n"
      "Example: hvtlb explore Z03 --memory tso");
  return {sub, [options] { return run_explore(*options); }};
}

}  // namespace hvtlb::cli
