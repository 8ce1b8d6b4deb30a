// `hvtlb explore`: every interleaving of a litmus, or the shortest that breaks a property.
#include <CLI/CLI.hpp>
#include <charconv>
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
  bool all = false;
  std::string replay;              ///< a file
  std::vector<std::string> merge;  ///< files
  std::string memory;              ///< empty: both
  std::string shard;               ///< `2/8`; empty: everything
  bool no_reduction = false;
  bool no_symmetry = false;
  bool steps = false;
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

Counterexample counterexample_of(const Litmus& litmus, MemoryModel model, const Verdict& verdict) {
  GuestSystem system(litmus);
  auto best = shortest(system, model, kShortestStates);
  Counterexample result{
      best ? *best->violation : *verdict.violation, best ? best->schedule : verdict.schedule, {}};
  system.note_events();
  result.rows = rows_of(system, model, result.schedule);
  return result;
}

/// What all searches have come to.
struct Outcome {
  bool unexpected = false;
  bool bounded = false;
  bool cut_short = false;  ///< a search ended before it had seen everything
  ReachedSteps steps;
};

/// `2/8`. Nothing: it is none.
std::optional<Shard> shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto number = [](std::string_view digits) {
    u32 value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() ? value : 0;
  };
  const Shard shard{number(std::string_view(text).substr(0, slash)),
                    number(std::string_view(text).substr(slash + 1))};
  if (shard.index < 1 || shard.index > shard.of || shard.of > kMaxShards) return std::nullopt;
  return shard;
}

ShardVerdict search(const LitmusInput& litmus, MemoryModel model, std::optional<Shard> shard,
                    const ExploreArguments& arguments) {
  GuestSystem system(litmus.file.litmus);
  std::atomic<u64> states = 0;
  std::atomic<u64> bytes = 0;
  Options options;
  options.model = model;
  options.reduce = !arguments.no_reduction;
  options.symmetry = !arguments.no_symmetry;
  options.most_bytes = arguments.memory_limit_mib << 20;
  options.stop = &interrupted();
  options.progress = [&](const Statistics& seen) {
    states = seen.states;
    bytes = seen.bytes;
  };
  const Progress progress(
      [&] { return fmt::format("{} states, {} MiB", states.load(), bytes.load() >> 20); });
  if (shard) return explore_shard(system, options, *shard);
  return {explore::explore(system, options), 0, 0};
}

void print_result(const Searched& searched) {
  const LitmusFile& file = searched.litmus.file;
  const Verdict& verdict = searched.result.verdict;
  const Statistics& seen = verdict.statistics;
  std::string part;
  if (searched.shard)
    part = fmt::format(" (shard {} of {}, {} of {} prefixes)", searched.shard->index,
                       searched.shard->of, searched.result.prefixes, searched.result.frontier);
  fmt::print("  {:3}  {}{}{}: {} states, {} revisits, {} executions, depth {}, {:.3f} s\n",
             name_of(searched.model), verdict_text(verdict), part,
             !file.expected(searched.model).given || is_bounded(verdict) ? ""
             : as_expected(searched)                                     ? ", as expected"
                                                                         : ", NOT AS EXPECTED",
             seen.states, seen.revisits, seen.executions, seen.depth, seen.seconds);
  fmt::print("{}", measured_text(verdict.measured));
  if (const auto& found = searched.counterexample)
    fmt::print("\n{}\n{}\n\n", table_of(found->rows, file.litmus.machine.nr_cpus),
               why_text(found->violation, file.litmus.mm_names));
}

void explore_one(const LitmusInput& litmus, MemoryModel model, std::optional<Shard> shard,
                 const ExploreArguments& arguments, Outcome& outcome, Json& results) {
  Searched searched{litmus,
                    model,
                    !arguments.no_reduction,
                    !arguments.no_symmetry,
                    shard,
                    search(litmus, model, shard, arguments),
                    {}};
  const Verdict& verdict = searched.result.verdict;
  outcome.unexpected |= !is_bounded(verdict) && !as_expected(searched);
  outcome.bounded |= is_bounded(verdict);
  outcome.cut_short |= verdict.end != End::kExhausted;
  outcome.steps.add(verdict.steps);
  if (verdict.violation && (arguments.json || !arguments.all))
    searched.counterexample = counterexample_of(litmus.file.litmus, model, verdict);
  if (arguments.json)
    results.push_back(result_json(searched));
  else
    print_result(searched);
}

/// The names of the catalogue, or those that were given.
std::vector<std::string> chosen(const ExploreArguments& arguments) {
  if (!arguments.all) return arguments.litmuses;
  std::vector<std::string> names;
  for (const auto& [name, text] : zoo::litmuses()) names.emplace_back(name);
  return names;
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
  if (!options.merge.empty()) return merge_shards(options.merge, options.json);
  std::optional<Shard> shard;
  if (!options.shard.empty() && !(shard = shard_of(options.shard))) {
    fmt::print(stderr, "--shard: found '{}', expected a part such as 2/8, at most of {}\n",
               shown_text(options.shard), kMaxShards);
    return kExitUsage;
  }
  const std::vector<std::string> names = chosen(options);
  if (names.empty()) {
    fmt::print(stderr, "found no litmus, expected a file or a name (hvtlb explore --list)\n");
    return kExitUsage;
  }
  watch_interrupt();
  Json results = Json::array();
  Outcome outcome;
  for (const std::string& name : names) {
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
      explore_one(litmus, model, shard, options, outcome, results);
    }
  }
  if (options.json)
    fmt::print("{}\n", Json{{"schema", kExploreSchema},
                            {"results", results},
                            {"steps", steps_json(outcome.steps.missing())}}
                           .dump(2));
  else
    print_steps(outcome.steps.missing(), options.steps, outcome.cut_short);
  if (interrupted()) return kExitInterrupted;
  if (outcome.unexpected) return kExitViolated;
  return outcome.bounded ? kExitUnknown : kExitHolds;
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
  sub->add_flag("--no-symmetry", options->no_symmetry,
                "CPUs with equal programs do not stand for each other");
  sub->add_option("--memory-limit", options->memory_limit_mib,
                  "MiB for remembered states (default 2048)")
      ->check(CLI::Range(u64{1}, u64{1} << 20));
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/explore.json)");
  sub->add_flag("--all", options->all, "all of them, without counterexamples unless --json")
      ->excludes(litmuses);
  sub->add_flag("--steps", options->steps, "the routines' steps that were never reached");
  sub->add_option("--shard", options->shard,
                  "one part of the search, for example 2/8; with --json for --merge");
  sub->add_option("--merge", options->merge, "the files of all shards as one result")
      ->excludes(litmuses)
      ->expected(1, kMaxShards);
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
