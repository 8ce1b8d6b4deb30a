// `hvtlb replay`: what a recorded machine's flushes reached, and what they would have reached.
#include "trace/replay.h"

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/rules_option.h"
#include "report/replay_json.h"
#include "report/replay_text.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

struct ReplayArguments {
  std::string file;
  std::vector<std::string> eras{std::string(kEraBeforeFix), std::string(kEraWithFix)};
  std::vector<std::string> set;
  std::string recorded_era = "v6.12.117";
  u32 cpus = 0;
  u64 hz = 250;
  std::size_t top = 10;
  bool flushes = false;
  bool json = false;
};

int usage(const std::string& what) {
  fmt::print(stderr, "hvtlb replay: {}\n", what);
  return kExitUsage;
}

std::string shown_name(const std::string& file) {
  return file == "-" ? "standard input" : escaped_text(file);
}

/// The machine's CPUs: as the user says, as the header says, or the highest that the file names.
u32 nr_cpus(const ReplayArguments& options, const TraceReader& reader) {
  if (options.cpus != 0) return options.cpus;
  if (reader.stats().header_cpus) return *reader.stats().header_cpus;
  return options.file == "-" ? 0 : count_trace_cpus(options.file);
}

/// Fills the eras; an error is one line.
std::string choose_eras(const ReplayArguments& options, ReplayOptions& replay) {
  std::string error;
  const auto recorded = named_rules(options.recorded_era, {}, error);
  if (!recorded) return "--recorded-era: " + error;
  replay.recorded = {recorded->name, recorded->rules};
  if (const auto twice = named_twice(options.eras))
    return fmt::format("--era: found '{}' twice", shown_text(*twice));
  for (const std::string& name : options.eras) {
    const auto era = named_rules(name, options.set, error);
    if (!era) return error;
    replay.compared.push_back({era->name, era->rules});
  }
  return {};
}

int exit_code(const ReplayResult& result) {
  if (interrupted()) return kExitInterrupted;
  for (const EraTotals& era : result.eras)
    if (era.nr_violations() != 0) return kExitViolated;
  return result.enough() ? kExitHolds : kExitUnknown;
}

/// Prints single flushes as they come, so that a long recording needs no memory for them: text
/// lines, or the head of the JSON object.
Replay::OnFlush flush_printer(const ReplayArguments& options, const ReplayOptions& replay) {
  if (!options.flushes) return {};
  if (options.json)
    return [first = true](const ReplayedFlush& flush) mutable {
      fmt::print("{}\n    {}", first ? "" : ",", replayed_flush_json(flush).dump());
      first = false;
    };
  std::vector<std::string> names{replay.recorded.name};
  for (const ReplayEra& era : replay.compared) names.push_back(era.name);
  return
      [names](const ReplayedFlush& flush) { fmt::print("{}", replayed_flush_text(flush, names)); };
}

void print_result(const ReplayArguments& options, const ReplayResult& result) {
  const std::string name = shown_name(options.file);
  if (!options.json) {
    fmt::print("{}{}", options.flushes ? "\n" : "", replay_text(result, {name, options.top}));
    return;
  }
  const std::string object = replay_json(result, name).dump(2);
  fmt::print("{}\n", options.flushes ? "\n  ],\n  " + object.substr(object.find('"')) : object);
}

int run_replay(const ReplayArguments& options) {
  ReplayOptions replay_options;
  if (const std::string error = choose_eras(options, replay_options); !error.empty())
    return usage(error);
  std::error_code ignored;
  if (options.file != "-" && std::filesystem::is_directory(options.file, ignored))
    return usage(fmt::format("{}: is a directory, expected a trace", shown_name(options.file)));
  const OpenedTrace trace = open_trace(options.file);
  if (!trace.reader) return usage(fmt::format("{}: {}", shown_name(options.file), trace.error));
  replay_options.hz = options.hz;
  replay_options.nr_cpus = nr_cpus(options, *trace.reader);
  if (replay_options.nr_cpus == 0)
    return usage(fmt::format("{}: no header says how many CPUs there are, expected --cpus N",
                             shown_name(options.file)));

  watch_interrupt();
  if (options.json && options.flushes) fmt::print("{{\n  \"flushes\": [");
  Replay replay(replay_options, flush_printer(options, replay_options));
  {
    std::atomic<u64> bytes = 0;
    const Progress progress([&] {
      return fmt::format("hvtlb replay: {:.1f} MB read", static_cast<double>(bytes.load()) / 1e6);
    });
    TraceEvent event;
    while (!interrupted() && trace.reader->next(event)) {
      replay.feed(event);
      bytes.store(trace.reader->stats().bytes, std::memory_order_relaxed);
    }
  }
  const ReplayResult result = replay.finish(trace.reader->stats());
  print_result(options, result);
  if (!result.read.error.empty())
    return usage(fmt::format("{}: {} after line {}", shown_name(options.file), result.read.error,
                             result.read.lines));
  if (!result.enough() && !interrupted())
    fmt::print(stderr,
               "hvtlb replay: {}: too little to answer: found {}, expected fmr or ntm and swmm "
               "events (see docs/replay.md for how to record them)\n",
               shown_name(options.file),
               result.flush_events() == 0 ? "no flush events" : "no swmm events");
  return exit_code(result);
}

}  // namespace

Command make_replay(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "replay", "A recorded trace: what each flush reached, and would have reached");
  auto options = std::make_shared<ReplayArguments>();
  sub->add_option("TRACE", options->file, "ftrace text; - is standard input")->required();
  sub->add_option("--era", options->eras, "an era to compare with, on Hyper-V (repeatable)")
      ->allow_extra_args(false)
      ->default_str("v6.17.5 filtered");
  sub->add_option("--set", options->set,
                  "FIELD=VALUE: one rule field, for every era but the recorded one (repeatable)")
      ->allow_extra_args(false);
  sub->add_option("--recorded-era", options->recorded_era,
                  "the kernel that made the recording, natively")
      ->capture_default_str();
  sub->add_option("--cpus", options->cpus,
                  "CPUs of the machine (default: the header's #P, or the "
                  "highest CPU in the file)")
      ->check(CLI::Range(1U, kMaxCpus));
  sub->add_option("--hz", options->hz, "jiffies a second")
      ->check(CLI::Range(u64{1}, u64{1'000'000}))
      ->capture_default_str();
  sub->add_option("--top", options->top, "rows of the top lists; 0: none")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  sub->add_flag("--flushes", options->flushes, "every flush, one line each, before the summary");
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/replay.json)");
  sub->footer(
      "Exit codes: 0 replayed, 1 bad usage or unreadable, 2 too little to answer, 3 P1 to P4\n"
      "violated in the model. How to record: docs/replay.md.\n"
      "Example: hvtlb replay --flushes trace.txt");
  return {sub, [options] { return run_replay(*options); }};
}

}  // namespace hvtlb::cli
