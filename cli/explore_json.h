// docs/schema/explore.json: written by `explore --json`, read back by `explore --replay`.
#pragma once

#include <string>
#include <vector>

#include "cli/explore_litmus.h"
#include "cli/json_lines.h"

namespace hvtlb::cli {

inline constexpr std::string_view kExploreSchema = "hvtlb-explore-1";

/// One of `results`.
Json result_json(const Searched& searched);

/// A counterexample that was written down.
struct Recorded {
  std::string place;  ///< in the document: `results[0]`
  LitmusInput litmus;
  explore::MemoryModel model;
  std::string why;
  std::vector<explore::Action> schedule;
  std::vector<std::string> texts;  ///< of the actions
};

/// A JSON file, or standard input for `-`. Throws LineError.
Json read_json_file(const std::string& path);

/// All counterexamples of a document, or of one result of it. Throws LineError, also when there
/// is none.
std::vector<Recorded> recorded_in(const Json& document);

}  // namespace hvtlb::cli
