// `hvtlb explore --merge`: the results of all shards of a search as one.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "cli/exit_code.h"
#include "cli/explore_json.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

using namespace hvtlb::explore;

std::string shown_path(const std::string& path) {
  return path == "-" ? "standard input" : escaped_text(path);
}

/// A known step as its place: what shards have in common.
using Place = std::pair<std::string, u64>;

/// One shard's result of one litmus under one memory model.
struct Part {
  std::string path;
  LitmusInput litmus;
  MemoryModel model;
  bool reduced;
  bool symmetric;
  u64 index, of, frontier;
  std::string verdict;
  std::string property;
  u64 states, executions, transitions, final_states, depth;
  Measured measured;
  std::set<Place> not_reached;
  Json counterexample;
};

/// What has to be the same in all shards.
struct Subject {
  std::string source;
  MemoryModel model;
  bool reduced;
  bool symmetric;
  u64 of;
  auto operator<=>(const Subject&) const = default;
};

constexpr u64 kAny = ~u64{0};

Part read_part(const Json& result, const std::string& path) {
  Fields fields(object_in(result));
  LitmusInput litmus = litmus_in(fields);
  Part part{path,
            std::move(litmus),
            memory_model_in(fields),
            fields.flag("reduced"),
            fields.flag("symmetric"),
            0,
            0,
            0,
            fields.text("verdict"),
            {},
            0,
            0,
            0,
            0,
            0,
            {},
            {},
            {}};
  if (part.verdict != "holds" && part.verdict != "violated" && part.verdict != "stuck" &&
      part.verdict != "bounded")
    throw LineError{fmt::format("verdict: found '{}', expected holds, violated, stuck or bounded",
                                shown_text(part.verdict))};
  if (part.verdict == "violated") part.property = fields.text("property");
  if (!fields.has("shard"))
    throw LineError{"found a search that is not in parts, expected one by --shard"};
  reading_at("shard", [&] {
    Fields shard(object_in(result.at("shard")));
    part.of = shard.number("of", 1, kMaxShards);
    part.index = shard.number("index", 1, part.of);
    part.frontier = shard.number("frontier", 0, kAny);
  });
  if (!fields.has("statistics")) throw LineError{"statistics: missing"};
  reading_at("statistics", [&] {
    Fields seen(object_in(result.at("statistics")));
    part.states = seen.number("states", 0, kAny);
    part.executions = seen.number("executions", 0, kAny);
    part.transitions = seen.number("transitions", 0, kAny);
    part.final_states = seen.number("final_states", 0, kAny);
    part.depth = seen.number("depth", 0, kAny);
  });
  if (!fields.has("measured")) throw LineError{"measured: missing"};
  reading_at("measured", [&] {
    Fields most(object_in(result.at("measured")));
    const auto cpus = [&](const char* name) {
      return static_cast<u32>(most.number(name, 0, kMaxExploredCpus));
    };
    part.measured = {cpus("lazy_reached"), cpus("stale_reached"), cpus("swept_in"),
                     cpus("left_in_mask")};
  });
  if (!fields.has("steps")) throw LineError{"steps: missing"};
  reading_at("steps", [&] {
    for (const Json& step : list_in(object_in(result.at("steps")), "not_reached")) {
      Fields place(object_in(step));
      part.not_reached.emplace(place.text("file"), place.number("line", 1, kAny));
    }
  });
  if (fields.has("counterexample")) part.counterexample = result.at("counterexample");
  return part;
}

/// All shards of one litmus under one memory model, by index.
struct Whole {
  std::vector<Part> parts;

  const LitmusFile& file() const { return parts.front().litmus.file; }
  MemoryModel model() const { return parts.front().model; }
  bool any(std::string_view verdict) const {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.verdict == verdict; });
  }
  std::string_view verdict() const {
    for (const std::string_view each : {"violated", "stuck", "bounded"})
      if (any(each)) return each;
    return "holds";
  }
  bool as_expected() const {
    const Expectation& expected = file().expected(model());
    if (verdict() == "holds") return !expected.violates;
    return verdict() == "violated" && expected.violates &&
           std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
             return part.verdict != "violated" ||
                    part.property == hvtlb::name_of(*expected.violates);
           });
  }
  Measured measured() const {
    Measured most;
    for (const Part& part : parts) most.raise(part.measured);
    return most;
  }
  u64 sum(u64 Part::*number) const {
    u64 total = 0;
    for (const Part& part : parts) total += part.*number;
    return total;
  }
  u64 depth() const {
    return std::max_element(parts.begin(), parts.end(),
                            [](const Part& a, const Part& b) { return a.depth < b.depth; })
        ->depth;
  }
};

/// Refuses what does not belong together: `parts` in the order of the files.
void check_together(const Whole& whole) {
  const Part& first = whole.parts.front();
  std::map<u64, std::string> seen;
  for (const Part& part : whole.parts) {
    if (const auto [at, fresh] = seen.emplace(part.index, part.path); !fresh)
      throw LineError{fmt::format("{}: found shard {} of {} of '{}' ({}), which {} holds, too",
                                  shown_path(part.path), part.index, part.of,
                                  escaped_text(part.litmus.file.litmus.name), name_of(part.model),
                                  shown_path(at->second))};
    // A shard that broke a property on the way to the frontier does not know how long it is.
    if (part.frontier != first.frontier)
      throw LineError{fmt::format("{}: found a frontier of {} prefixes, expected {} as in {}",
                                  shown_path(part.path), part.frontier, first.frontier,
                                  shown_path(first.path))};
  }
  for (u64 index = 1; index <= first.of; ++index)
    if (!seen.contains(index))
      throw LineError{fmt::format("'{}' ({}): found {} of {} shards, expected shard {}, too",
                                  escaped_text(first.litmus.file.litmus.name), name_of(first.model),
                                  seen.size(), first.of, index)};
}

/// In the order of the first file.
std::vector<Whole> read_wholes(const std::vector<std::string>& paths) {
  std::map<Subject, std::size_t> place;
  std::vector<Whole> wholes;
  for (const std::string& path : paths)
    reading_at(shown_path(path), [&] {
      const Json document = read_json_file(path);
      const Json& results = results_in(document);
      if (results.empty()) throw LineError{"found no results"};
      for (std::size_t at = 0; at < results.size(); ++at)
        reading_at(fmt::format("results[{}]", at), [&] {
          Part part = read_part(results[at], path);
          const Subject subject{part.litmus.source, part.model, part.reduced, part.symmetric,
                                part.of};
          const auto [found, fresh] = place.emplace(subject, wholes.size());
          if (fresh && path != paths.front())
            throw LineError{fmt::format("found '{}' ({}{}{}, {} shards), which {} does not hold",
                                        escaped_text(part.litmus.file.litmus.name),
                                        name_of(part.model), part.reduced ? "" : ", no reduction",
                                        part.symmetric ? "" : ", no symmetry", part.of,
                                        shown_path(paths.front()))};
          if (fresh) wholes.emplace_back();
          wholes[found->second].parts.push_back(std::move(part));
        });
    });
  for (Whole& whole : wholes) {
    check_together(whole);
    std::sort(whole.parts.begin(), whole.parts.end(),
              [](const Part& a, const Part& b) { return a.index < b.index; });
  }
  return wholes;
}

std::vector<KnownStep> not_reached(const std::vector<Whole>& wholes) {
  std::vector<KnownStep> steps;
  for (const KnownStep& step : known_steps()) {
    const Place place{std::string(step.file), static_cast<u64>(step.line)};
    const bool reached = std::any_of(wholes.begin(), wholes.end(), [&](const Whole& whole) {
      return std::any_of(whole.parts.begin(), whole.parts.end(),
                         [&](const Part& part) { return !part.not_reached.contains(place); });
    });
    if (!reached) steps.push_back(step);
  }
  return steps;
}

Json whole_json(const Whole& whole) {
  Json states = Json::array();
  Json violating = Json::array();
  Json result{{"litmus", whole.file().litmus.name},
              {"source", whole.parts.front().litmus.source},
              {"memory", name_of(whole.model())},
              {"reduced", whole.parts.front().reduced},
              {"symmetric", whole.parts.front().symmetric},
              {"verdict", whole.verdict()},
              {"as_expected", whole.as_expected()},
              {"executions", whole.sum(&Part::executions)},
              {"transitions", whole.sum(&Part::transitions)},
              {"depth", whole.depth()},
              {"measured", measured_json(whole.measured())}};
  for (const Part& part : whole.parts) {
    states.push_back(part.states);
    if (part.verdict != "violated") continue;
    violating.push_back({{"index", part.index}, {"property", part.property}});
    if (!result.contains("counterexample") && !part.counterexample.is_null())
      result["counterexample"] = part.counterexample;
  }
  result["states_by_shard"] = states;
  result["violating_shards"] = violating;
  return result;
}

void print_whole(const Whole& whole) {
  std::string verdict(whole.verdict());
  if (verdict == "holds") verdict += ", exhausted";
  std::string shards;
  std::string states;
  for (const Part& part : whole.parts) {
    if (part.verdict == whole.verdict() && whole.verdict() != "holds")
      shards += fmt::format("{}{}{}{}", shards.empty() ? " (shard " : ", ", part.index,
                            part.property.empty() ? "" : ": ", part.property);
    states += fmt::format("{}{}", states.empty() ? "" : " + ", part.states);
  }
  if (!shards.empty()) shards += ")";
  fmt::print(
      "  {:3}  {}{}{}: {} shards, {} executions, {} transitions, depth {}\n"
      "       states by shard, which have some in common: {}\n",
      name_of(whole.model()), verdict, shards,
      !whole.file().expected(whole.model()).given || whole.verdict() == "bounded" ? ""
      : whole.as_expected()                                                       ? ", as expected"
                            : ", NOT AS EXPECTED",
      whole.parts.size(), whole.sum(&Part::executions), whole.sum(&Part::transitions),
      whole.depth(), states);
  fmt::print("{}", measured_text(whole.measured()));
}

}  // namespace

int merge_shards(const std::vector<std::string>& paths, bool json) {
  std::vector<Whole> wholes;
  try {
    wholes = read_wholes(paths);
  } catch (const LineError& error) {
    fmt::print(stderr, "{}\n", error.what);
    return kExitUsage;
  }
  bool unexpected = false;
  bool bounded = false;
  Json results = Json::array();
  for (const Whole& whole : wholes) {
    bounded |= whole.verdict() == "bounded";
    unexpected |= whole.verdict() != "bounded" && !whole.as_expected();
    if (json) {
      results.push_back(whole_json(whole));
      continue;
    }
    print_head(whole.file());
    print_whole(whole);
  }
  if (json)
    fmt::print("{}\n", Json{{"schema", kMergeSchema},
                            {"results", results},
                            {"steps", steps_json(not_reached(wholes))}}
                           .dump(2));
  else
    print_steps(not_reached(wholes), false, bounded);
  if (unexpected) return kExitViolated;
  return bounded ? kExitUnknown : kExitHolds;
}

}  // namespace hvtlb::cli
