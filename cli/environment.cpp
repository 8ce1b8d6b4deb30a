// `hvtlb environment`: flush safety for any number of CPUs.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/explore_json.h"
#include "cli/progress.h"
#include "cli/rules_option.h"
#include "explore/counterexample.h"
#include "explore/environment_search.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

struct EnvironmentArguments {
  std::string era = "v6.17.5";
  std::vector<std::string> set;
  std::string path;    ///< empty: both
  std::string memory;  ///< empty: both
  std::string flush;   ///< empty: all
  std::string layout = "plain";
  bool alone = false;
  bool no_reduction = false;
  bool json = false;
  u64 check_merges = 0;  ///< states; 0: search
  u64 memory_limit_mib = 2048;
};

constexpr FlushShape kFlushes[] = {FlushShape::kPage, FlushShape::kTables, FlushShape::kSpace,
                                   FlushShape::kBatch};
constexpr Layout kLayouts[] = {Layout::kPlain, Layout::kSpareCpu, Layout::kHighTarget,
                               Layout::kHighOther};

/// The initiator as its own target; beside another, running the mm and elsewhere.
std::vector<EnvironmentCase> cases_of(const EnvironmentArguments& arguments, const Rules& rules) {
  std::vector<EnvironmentCase> cases;
  for (const bool hyperv : {false, true}) {
    if (!arguments.path.empty() && (arguments.path == "hyperv") != hyperv) continue;
    for (const FlushShape flush : kFlushes) {
      if (!arguments.flush.empty() && arguments.flush != name_of(flush)) continue;
      EnvironmentCase each{.rules = rules, .hyperv = hyperv, .flush = flush, .alone = true};
      for (const Layout layout : kLayouts)
        if (arguments.layout == name_of(layout)) each.layout = layout;
      cases.push_back(each);
      if (arguments.alone) continue;
      each.alone = false;
      cases.push_back(each);
      each.initiator = Initiator::kElsewhere;
      cases.push_back(each);
    }
  }
  return cases;
}

std::string head_of(const EnvironmentCase& which, MemoryModel model) {
  return fmt::format("{:6}  {:6}  initiator {:11}  {:3} ", which.hyperv ? "hyperv" : "native",
                     name_of(which.flush), initiator_text(which), name_of(model));
}

Json case_json(const EnvironmentCase& which, MemoryModel model, const Verdict& verdict,
               const std::vector<Row>& rows) {
  const Statistics& seen = verdict.statistics;
  Json json{{"path", which.hyperv ? "hyperv" : "native"},
            {"flush", name_of(which.flush)},
            {"initiator", initiator_text(which)},
            {"layout", name_of(which.layout)},
            {"memory", name_of(model)},
            {"exhausted", verdict.end == End::kExhausted},
            {"states", seen.states},
            {"transitions", seen.transitions},
            {"depth", seen.depth},
            {"seconds", seen.seconds},
            {"violates", nullptr},
            {"steps", Json::array()}};
  if (!verdict.violation) return json;
  json["violates"] = name_of(verdict.violation->property);
  for (const Row& row : rows)
    json["steps"].push_back({{"cpu", row.cpu}, {"routine", row.routine}, {"text", row.text}});
  return json;
}

struct Outcome {
  bool violated = false;
  bool bounded = false;
  Json results = Json::array();
};

Options options_of(const EnvironmentArguments& arguments, MemoryModel model) {
  Options options;
  options.model = model;
  options.reduce = !arguments.no_reduction;
  options.most_bytes = arguments.memory_limit_mib << 20;
  options.stop = &interrupted();
  return options;
}

/// Searches one case.
void search(const EnvironmentCase& which, MemoryModel model, const EnvironmentArguments& arguments,
            Outcome& outcome) {
  EnvironmentSystem system(which);
  std::atomic<u64> states = 0;
  std::atomic<u64> bytes = 0;
  Options options = options_of(arguments, model);
  options.progress = [&](const Statistics& seen) {
    states = seen.states;
    bytes = seen.bytes;
  };
  std::optional<Progress> progress(
      [&] { return fmt::format("{} states, {} MiB", states.load(), bytes.load() >> 20); });
  const Verdict verdict = explore_environment(system, options);
  progress.reset();
  outcome.violated |= verdict.violation || verdict.end == End::kStuck;
  outcome.bounded |= is_bounded(verdict);
  std::vector<Row> rows;
  if (verdict.violation) {
    system.note_events();
    rows = rows_of(system, model, verdict.schedule);
  }
  if (arguments.json) {
    outcome.results.push_back(case_json(which, model, verdict, rows));
    return;
  }
  const Statistics& seen = verdict.statistics;
  fmt::print("{} {}: {} states, depth {}, {:.3f} s\n", head_of(which, model), verdict_text(verdict),
             seen.states, seen.depth, seen.seconds);
  if (verdict.violation)
    fmt::print("\n{}\n{}\n\n", table_of(rows, 2),
               why_text(*verdict.violation, {"init_mm", "B", "A"}));
  std::fflush(stdout);
}

/// Checks that the states of one case leave out nothing that makes a difference.
void check(const EnvironmentCase& which, MemoryModel model, const EnvironmentArguments& arguments,
           Outcome& outcome) {
  EnvironmentSystem system(which);
  const Progress progress(
      [] { return std::string("comparing the states that are taken for one"); });
  const MergeCheck found =
      check_environment_merges(system, options_of(arguments, model), arguments.check_merges);
  fmt::print("{} {} states, {} merges: {}\n", head_of(which, model), found.states, found.merges,
             found.wrong       ? "DIFFERENT states are taken for one"
             : found.exhausted ? "all go on alike"
                               : "no difference so far");
  std::fflush(stdout);
  outcome.bounded |= !found.exhausted && !found.wrong;
  if (!found.wrong) return;
  outcome.violated = true;
  for (const std::vector<Action>* way : {&found.wrong->first, &found.wrong->second})
    fmt::print("\n{}\n", table_of(rows_of(system, model, *way), 2));
}

int run_environment(const EnvironmentArguments& arguments) {
  std::string error;
  const auto named = named_rules(arguments.era, arguments.set, error);
  if (!named) {
    fmt::print(stderr, "{}\n", error);
    return kExitUsage;
  }
  watch_interrupt();
  Outcome outcome;
  for (const EnvironmentCase& each : cases_of(arguments, named->rules))
    for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
      if (!arguments.memory.empty() && arguments.memory != name_of(model)) continue;
      if (interrupted()) break;
      (arguments.check_merges != 0 ? check : search)(each, model, arguments, outcome);
    }
  if (arguments.json)
    fmt::print("{}\n", Json{{"schema", "hvtlb-environment-1"},
                            {"rules", named->name},
                            {"results", outcome.results}}
                           .dump(2));
  if (interrupted()) return kExitInterrupted;
  if (outcome.violated) return kExitViolated;
  return outcome.bounded ? kExitUnknown : kExitHolds;
}

}  // namespace

Command make_environment(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "environment", "Flush safety for any number of CPUs: two of them and what others may do");
  auto options = std::make_shared<EnvironmentArguments>();
  sub->add_option("--era", options->era, "whose rules (default v6.17.5)");
  sub->add_option("--set", options->set, "FIELD=VALUE, a rule that is different");
  sub->add_option("--path", options->path, "one path only (default: both)")
      ->check(CLI::IsMember({"native", "hyperv"}));
  sub->add_option("--memory", options->memory, "one memory model only (default: both)")
      ->check(CLI::IsMember({"sc", "tso"}));
  sub->add_option("--flush", options->flush, "one kind of flush only (default: all)")
      ->check(CLI::IsMember({"page", "tables", "space", "batch"}));
  sub->add_option("--layout", options->layout, "which VPs there are (default plain)")
      ->check(CLI::IsMember({"plain", "spare-cpu", "high-target", "high-other"}));
  sub->add_flag("--alone", options->alone, "the initiator as its own target only");
  sub->add_flag("--no-reduction", options->no_reduction, "without partial-order reduction");
  CLI::Option* json =
      sub->add_flag("--json", options->json, "one JSON object (docs/schema/environment.json)");
  sub->add_option("--check-merges", options->check_merges,
                  "instead: compare all states that are taken for one, of at most so many")
      ->check(CLI::Range(u64{1}, u64{1} << 32))
      ->excludes(json);
  sub->add_option("--memory-limit", options->memory_limit_mib,
                  "MiB for remembered states (default 2048)")
      ->check(CLI::Range(u64{1}, u64{1} << 20));
  sub->footer(
      "Exit codes: 0 everything holds, 2 a bound was reached, 3 a property is violated, 130\n"
      "stopped by Ctrl-C.\n"
      "Example: hvtlb environment --era v6.14 --path native --flush page --memory sc");
  return {sub, [options] { return run_environment(*options); }};
}

}  // namespace hvtlb::cli
