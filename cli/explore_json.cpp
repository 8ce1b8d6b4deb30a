#include "cli/explore_json.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <iterator>

#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

constexpr u64 kMostCounterexampleSteps = 100'000;

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

Json counterexample_json(const Counterexample& found, const Litmus& litmus) {
  Json rows = Json::array();
  for (const Row& row : found.rows)
    rows.push_back({{"action", row.action.number()},
                    {"cpu", row.cpu},
                    {"routine", row.routine},
                    {"line", row.line},
                    {"text", row.text}});
  return {{"why", why_text(found.violation, litmus.mm_names)}, {"steps", rows}};
}

std::string_view verdict_word(const Verdict& verdict) {
  if (is_bounded(verdict)) return "bounded";
  if (verdict.end == End::kExhausted) return "holds";
  return verdict.end == End::kStuck ? "stuck" : "violated";
}

void read_steps_of(const Json& steps, u32 nr_cpus, Recorded& recorded) {
  if (steps.size() > kMostCounterexampleSteps)
    throw LineError{fmt::format("steps: found {}, expected at most {}", steps.size(),
                                kMostCounterexampleSteps)};
  for (std::size_t at = 0; at < steps.size(); ++at)
    reading_at(fmt::format("step {}", at + 1), [&] {
      Fields step(object_in(steps[at]));
      const Action action(static_cast<u8>(step.number("action", 0, kNrActions - 1)));
      const u64 cpu = step.number("cpu", 0, nr_cpus - 1);
      if (action.cpu() != cpu)
        throw LineError{fmt::format("cpu: found {}, expected {}, where action {} happens", cpu,
                                    action.cpu(), action.number())};
      recorded.schedule.push_back(action);
      recorded.texts.push_back(step.text("text"));
    });
}

Recorded read_recorded(const Json& result, const std::string& place) {
  Fields fields(result);
  LitmusInput litmus = litmus_in(fields);
  Recorded recorded{place, std::move(litmus), memory_model_in(fields), {}, {}, {}};
  const Json& found = result.at("counterexample");
  reading_at("counterexample", [&] {
    recorded.why = Fields(object_in(found)).text("why");
    read_steps_of(list_in(found, "steps"), recorded.litmus.file.litmus.machine.nr_cpus, recorded);
  });
  return recorded;
}

}  // namespace

Json measured_json(const Measured& measured) {
  return {{"lazy_reached", measured.lazy_reached},
          {"stale_reached", measured.stale_reached},
          {"swept_in", measured.swept_in},
          {"left_in_mask", measured.left_in_mask}};
}

Json steps_json(const std::vector<KnownStep>& missing) {
  Json steps = Json::array();
  for (const KnownStep& step : missing)
    steps.push_back({{"file", step.file}, {"routine", step.routine}, {"line", step.line}});
  return {{"known", known_steps().size()}, {"not_reached", steps}};
}

Json result_json(const Searched& searched) {
  const Verdict& verdict = searched.result.verdict;
  const LitmusFile& file = searched.litmus.file;
  Json result{{"litmus", file.litmus.name},
              {"source", searched.litmus.source},
              {"memory", name_of(searched.model)},
              {"reduced", searched.reduced},
              {"symmetric", searched.symmetric},
              {"era", file.era},
              {"set", file.set},
              {"verdict", verdict_word(verdict)},
              {"as_expected", !is_bounded(verdict) && as_expected(searched)},
              {"statistics", statistics_json(verdict.statistics)},
              {"measured", measured_json(verdict.measured)},
              {"steps", steps_json(verdict.steps.missing())}};
  if (searched.shard)
    result["shard"] = {{"index", searched.shard->index},
                       {"of", searched.shard->of},
                       {"prefixes", searched.result.prefixes},
                       {"frontier", searched.result.frontier}};
  if (verdict.violation) result["property"] = hvtlb::name_of(verdict.violation->property);
  if (searched.counterexample)
    result["counterexample"] = counterexample_json(*searched.counterexample, file.litmus);
  return result;
}

Json read_json_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw LineError{"is a directory, expected a file that explore --json has written"};
    file.open(path);
    if (!file) throw LineError{"cannot be opened"};
  }
  std::istream& in = path == "-" ? std::cin : file;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kMaxJsonDepth)
      throw LineError{
          fmt::format("found more than {} objects and lists in one another", kMaxJsonDepth)};
    return true;
  };
  Json document = Json::parse(text, shallow, false);
  if (document.is_discarded())
    throw LineError{"found no JSON, expected what explore --json prints"};
  return document;
}

const Json& object_in(const Json& value) {
  if (!value.is_object()) throw LineError{"found " + shown_json(value) + ", expected an object"};
  return value;
}

const Json& list_in(const Json& object, const char* key) {
  if (!object.contains(key)) throw LineError{fmt::format("{}: missing", key)};
  const Json& list = object.at(key);
  if (!list.is_array())
    throw LineError{fmt::format("{}: found {}, expected a list", key, shown_json(list))};
  return list;
}

MemoryModel memory_model_in(Fields& result) {
  const std::string memory = result.text("memory");
  if (memory != "sc" && memory != "tso")
    throw LineError{fmt::format("memory: found '{}', expected sc or tso", shown_text(memory))};
  return memory == "sc" ? MemoryModel::kSc : MemoryModel::kTso;
}

LitmusInput litmus_in(Fields& result) {
  auto litmus = litmus_from(result.text("source"), "source");
  if (const auto* error = std::get_if<ScenarioError>(&litmus)) throw LineError{error->to_string()};
  return std::get<LitmusInput>(std::move(litmus));
}

const Json& results_in(const Json& document) {
  if (!document.is_object())
    throw LineError{"found " + shown_json(document) + ", expected what explore --json prints"};
  const std::string schema = Fields(document).text("schema");
  if (schema != kExploreSchema && schema != kMergeSchema)
    throw LineError{
        fmt::format("schema: found '{}', expected {}", shown_text(schema), kExploreSchema)};
  return list_in(document, "results");
}

std::vector<Recorded> recorded_in(const Json& document) {
  std::vector<Recorded> recorded;
  const auto add = [&](const Json& result, const std::string& place) {
    reading_at(place, [&] {
      if (object_in(result).contains("counterexample"))
        recorded.push_back(read_recorded(result, place));
    });
  };
  if (document.is_object() && document.contains("counterexample")) {
    add(document, "");
  } else {
    const Json& results = results_in(document);
    for (std::size_t at = 0; at < results.size(); ++at)
      add(results[at], fmt::format("results[{}]", at));
  }
  if (recorded.empty())
    throw LineError{"found no counterexample, expected a result that is violated"};
  return recorded;
}

}  // namespace hvtlb::cli
