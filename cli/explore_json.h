// docs/schema/explore.json: written by `explore --json`, read back by `explore --replay`.
#pragma once

#include <string>
#include <vector>

#include "cli/explore_litmus.h"
#include "cli/json_lines.h"

namespace hvtlb::cli {

inline constexpr std::string_view kExploreSchema = "hvtlb-explore-1";
inline constexpr std::string_view kMergeSchema = "hvtlb-explore-merge-1";

/// One of `results`.
Json result_json(const Searched& searched);

/// What was measured (P5, P6).
Json measured_json(const explore::Measured& measured);

/// How many steps the routines have, and which of them are missing.
Json steps_json(const std::vector<explore::KnownStep>& missing);

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

/// The results of a document. A merged one has results, too. Throws LineError when it is no
/// document of `explore --json`.
const Json& results_in(const Json& document);

/// The value, which has to be an object. Throws LineError.
const Json& object_in(const Json& value);

/// The list of that key. Throws LineError.
const Json& list_in(const Json& object, const char* key);

explore::MemoryModel memory_model_in(Fields& result);

/// The litmus that the result is about. Throws LineError.
LitmusInput litmus_in(Fields& result);

/// Calls `read`, and names the place in the LineError that comes out of it.
template <class Read>
auto reading_at(const std::string& place, Read read) {
  try {
    return read();
  } catch (const LineError& error) {
    throw LineError{place.empty() ? error.what : place + ": " + error.what};
  }
}

/// All counterexamples of a document, or of one result of it. Throws LineError, also when there
/// is none.
std::vector<Recorded> recorded_in(const Json& document);

}  // namespace hvtlb::cli
