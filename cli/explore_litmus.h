// A litmus as `hvtlb explore` was given it, and what a search of it came to. For explore*.cpp and
// environment.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explore/counterexample.h"
#include "explore/frontier.h"
#include "explore/litmus_file.h"

namespace hvtlb::cli {

struct LitmusInput {
  explore::LitmusFile file;
  std::string source;  ///< its YAML
};

/// From YAML; `name` stands in refusals.
ScenarioResult<LitmusInput> litmus_from(const std::string& source, const std::string& name);

/// A violation, the schedule that shows it, and that schedule in words.
struct Counterexample {
  Violation violation;
  std::vector<explore::Action> schedule;
  std::vector<explore::Row> rows;
};

/// One litmus, searched under one memory model.
struct Searched {
  const LitmusInput& litmus;
  explore::MemoryModel model;
  bool reduced;
  bool symmetric;
  std::optional<explore::Shard> shard;
  explore::ShardVerdict result;
  std::optional<Counterexample> counterexample;
};

std::string_view name_of(explore::MemoryModel model);

/// Whether a limit or Ctrl-C ended the search.
bool is_bounded(const explore::Verdict& verdict);

/// `holds, exhausted`; what is violated, or why it is not known.
std::string verdict_text(const explore::Verdict& verdict);

/// P5 and P6 as a line of its own; nothing where nothing was needless.
std::string measured_text(const explore::Measured& measured);

/// Whether it came out as the litmus expects; without an expectation it has to hold. A shard may
/// hold where the whole does not.
bool as_expected(const Searched& searched);

/// The broken property in one sentence. `mm_names`: by slot, may be short.
std::string why_text(const Violation& violation, const std::vector<std::string>& mm_names);

/// Name, rules and programs.
void print_head(const explore::LitmusFile& file);

/// How many of the routines' steps were reached; with `list`, which were not. `cut_short`: a search
/// ended before it had seen everything.
void print_steps(const std::vector<explore::KnownStep>& missing, bool list, bool cut_short);

/// `explore --replay`: runs the schedules of a file again. Returns the exit code.
int replay_counterexamples(const std::string& path);

/// `explore --merge`: the shards' files as one result. Returns the exit code.
int merge_shards(const std::vector<std::string>& paths, bool json);

}  // namespace hvtlb::cli
