// A search in parts comes to what the whole search comes to; and what the files of shards that do
// not belong together are refused with.
#include <set>

#include "explore/frontier.h"
#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore_output.h"
#include "json_schema.h"
#include "tests/sanitized.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

using nlohmann::json;

Litmus litmus_named(std::string_view name) {
  const auto read = read_litmus(std::string(zoo::litmus_text(name)), std::string(name));
  return std::get<LitmusFile>(read).litmus;
}

/// The states in which all programs have ended, as options collect them.
class FinalStates {
 public:
  explicit FinalStates(GuestSystem& system) : system_(system) {}

  Options options(MemoryModel model) {
    Options options;
    options.model = model;
    options.symmetry = false;  // the ends are compared as they are
    options.at_end = [this] {
      std::vector<u64> state;
      system_.append_state(state);
      states.insert(state);
    };
    return options;
  }
  std::set<std::vector<u64>> states;

 private:
  GuestSystem& system_;
};

class Sharded : public testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(Sharded, TheShardsComeToWhatTheWholeComesTo) {
  const Litmus litmus = litmus_named(GetParam().first);
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    if (test::kSanitized && model == MemoryModel::kSc) continue;  // the optimised build does all
    GuestSystem system(litmus);
    FinalStates whole_ends(system);
    const Verdict whole = explore(system, whole_ends.options(model));
    for (const u32 of : {2u, 3u}) {
      if (test::kSanitized && of == 2) continue;
      FinalStates ends(system);
      bool any_violates = false;
      u64 prefixes = 0;
      u64 frontier = 0;
      ReachedSteps steps;
      Measured measured;
      for (u32 index = 1; index <= of; ++index) {
        const ShardVerdict part = explore_shard(system, ends.options(model), {index, of});
        any_violates |= part.verdict.end == End::kViolation;
        EXPECT_TRUE(part.verdict.end == End::kViolation || part.verdict.end == End::kExhausted);
        prefixes += part.prefixes;
        frontier = part.frontier;
        steps.add(part.verdict.steps);
        measured.raise(part.verdict.measured);
      }
      EXPECT_EQ(any_violates, whole.end == End::kViolation);
      EXPECT_EQ(prefixes, frontier);
      if (whole.end != End::kExhausted) continue;
      EXPECT_EQ(ends.states, whole_ends.states);
      EXPECT_EQ(steps.missing().size(), whole.steps.missing().size());
      EXPECT_EQ(measured, whole.measured);
    }
  }
}

TEST_P(Sharded, AViolationIsFoundByTheShardsThatLeadThere) {
  if (test::kSanitized) GTEST_SKIP() << "the optimised build does this";
  const Litmus litmus = litmus_named(GetParam().first);
  const Options options;
  GuestSystem system(litmus);
  if (explore(system, options).end != End::kViolation) return;
  const u32 of = 3;
  const Frontier all = frontier(system, options, std::size_t{kPrefixesAShard} * of);
  if (all.before.end == End::kViolation) return;
  for (u32 index = 1; index <= of; ++index) {
    bool leads_there = false;
    for (const std::vector<Action>& prefix : prefixes_of(all, {index, of}))
      leads_there |= explore_from(system, options, std::span(&prefix, 1)).end == End::kViolation;
    const ShardVerdict part = explore_shard(system, options, {index, of});
    EXPECT_EQ(part.verdict.end == End::kViolation, leads_there) << "shard " << index;
  }
}

INSTANTIATE_TEST_SUITE_P(, Sharded, testing::ValuesIn(zoo::litmuses()), [](const auto& test) {
  std::string name(test.param.first);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(Frontier, ItsStatesAreDifferentAndItIsTheSameEveryTime) {
  const Litmus litmus = litmus_named("two-flushers-native");
  GuestSystem system(litmus);
  const Frontier once = frontier(system, {}, 40);
  const Frontier again = frontier(system, {}, 40);
  EXPECT_GE(once.prefixes.size(), 40u);
  EXPECT_EQ(once.prefixes, again.prefixes);
  Engine engine(system, MemoryModel::kTso);
  std::set<std::pair<u64, u64>> states;
  for (const std::vector<Action>& prefix : once.prefixes) {
    engine.replay(prefix);
    EXPECT_TRUE(states.emplace(engine.hash().low, engine.hash().high).second);
    EXPECT_EQ(prefix.size(), once.prefixes.front().size());
  }
}

/// The document of a shard.
json shard_of(const std::string& litmus, u32 index, u32 of) {
  return cli::explore_printed(litmus + " --json --shard " + std::to_string(index) + "/" +
                              std::to_string(of))
      .json();
}

cli::Printed merged(const std::vector<json>& documents, const std::string& more = "") {
  std::vector<std::unique_ptr<TempFile>> files;
  std::string arguments = "--merge";
  for (const json& each : documents) {
    files.push_back(std::make_unique<TempFile>(each.dump()));
    arguments += " " + files.back()->path();
  }
  cli::Printed printed = cli::explore_printed(arguments + more);
  for (std::size_t at = 0; at < files.size(); ++at)
    for (std::size_t found; (found = printed.error.find(files[at]->path())) != std::string::npos;)
      printed.error.replace(found, files[at]->path().size(), "F" + std::to_string(at + 1));
  return printed;
}

std::string refusal(const std::vector<json>& documents) {
  const cli::Printed printed = merged(documents);
  EXPECT_EQ(printed.exit_code, cli::kExitUsage);
  EXPECT_EQ(printed.out, "");
  return printed.error;
}

TEST(Merge, AddsUpWhatAddsUp) {
  const std::vector<json> parts{shard_of("two-flushers Z03", 1, 2),
                                shard_of("two-flushers Z03", 2, 2)};
  for (const json& part : parts)
    EXPECT_EQ(schema_errors(read_schema("explore.json"), part).size(), 0u);
  const cli::Printed printed = merged({parts[1], parts[0]}, " --json");
  EXPECT_EQ(printed.exit_code, cli::kExitHolds) << printed.error;
  const json whole = printed.json();
  for (const std::string& error : schema_errors(read_schema("explore-merge.json"), whole))
    ADD_FAILURE() << error;
  ASSERT_EQ(whole["results"].size(), 4u);
  for (std::size_t at = 0; at < 4; ++at) {
    const json& result = whole["results"][at];
    EXPECT_EQ(result["as_expected"], true);
    EXPECT_EQ(result["verdict"], at == 3 ? "violated" : "holds");
    for (const char* number : {"executions", "transitions"})
      EXPECT_EQ(result[number], parts[0]["results"][at]["statistics"][number].get<u64>() +
                                    parts[1]["results"][at]["statistics"][number].get<u64>());
    for (std::size_t part = 0; part < 2; ++part)
      EXPECT_EQ(result["states_by_shard"][part],
                parts[part]["results"][at]["statistics"]["states"]);
  }
  EXPECT_EQ(whole["results"][3]["violating_shards"][0]["property"], "P1");
  EXPECT_EQ(whole["steps"], cli::explore_printed("two-flushers Z03 --json").json()["steps"]);
  const TempFile file(printed.out);
  EXPECT_EQ(cli::explore_printed("--replay " + file.path()).exit_code, cli::kExitViolated);
}

TEST(Merge, TheMostOfAnyShardIsTheMostOfTheWhole) {
  std::vector<json> parts{shard_of("switch --memory sc", 1, 2),
                          shard_of("switch --memory sc", 2, 2)};
  const auto measured = [](u32 lazy, u32 stale, u32 swept, u32 left) {
    return json{{"lazy_reached", lazy},
                {"stale_reached", stale},
                {"swept_in", swept},
                {"left_in_mask", left}};
  };
  parts[0]["results"][0]["measured"] = measured(2, 0, 1, 0);
  parts[1]["results"][0]["measured"] = measured(1, 3, 0, 0);
  EXPECT_EQ(merged(parts, " --json").json()["results"][0]["measured"], measured(2, 3, 1, 0));
  const std::string line =
      "at most, at one moment: lazy CPUs reached 2 (P5), CPUs reached on another mm 3 (P5), "
      "CPUs that only ALL_PROCESSORS names 1 (P5)\n";
  cli::Printed printed = merged(parts);
  EXPECT_NE(printed.out.find(line), std::string::npos) << printed.out;
  for (json& part : parts) part["results"][0]["measured"] = measured(0, 0, 0, 1);
  printed = merged(parts);
  EXPECT_NE(printed.out.find("at one moment: bits left by a trim round 1 (P6)\n"),
            std::string::npos)
      << printed.out;
  for (json& part : parts) part["results"][0]["measured"] = measured(0, 0, 0, 0);
  printed = merged(parts);
  EXPECT_EQ(printed.out.find("at one moment"), std::string::npos) << printed.out;
  parts[1]["results"][0].erase("measured");
  EXPECT_EQ(refusal(parts), "F2: results[0]: measured: missing\n");
}

TEST(Merge, ABoundedShardLeavesItOpen) {
  std::vector<json> parts{shard_of("switch --memory sc", 1, 2),
                          shard_of("switch --memory sc", 2, 2)};
  parts[1]["results"][0]["verdict"] = "bounded";
  cli::Printed printed = merged(parts);
  EXPECT_EQ(printed.exit_code, cli::kExitUnknown);
  EXPECT_NE(printed.out.find("sc   bounded (shard 2): 2 shards"), std::string::npos) << printed.out;
  // A violation is one whatever the others have not seen.
  parts[0]["results"][0]["verdict"] = "violated";
  parts[0]["results"][0]["property"] = "P2";
  printed = merged(parts);
  EXPECT_EQ(printed.exit_code, cli::kExitViolated);
  EXPECT_NE(printed.out.find("sc   violated (shard 1: P2), NOT AS EXPECTED: 2 shards"),
            std::string::npos);
}

TEST(Merge, WhatDoesNotBelongTogetherIsRefused) {
  const std::string litmus = "switch --memory sc";
  const json one = shard_of(litmus, 1, 2);
  const json two = shard_of(litmus, 2, 2);
  const std::string name = one["results"][0]["litmus"];
  EXPECT_EQ(refusal({one}), "'" + name + "' (sc): found 1 of 2 shards, expected shard 2, too\n");
  EXPECT_EQ(refusal({one, two, one}),
            "F3: found shard 1 of 2 of '" + name + "' (sc), which F1 holds, too\n");
  EXPECT_EQ(refusal({one, shard_of("switch --memory tso", 2, 2)}),
            "F2: results[0]: found '" + name + "' (tso, 2 shards), which F1 does not hold\n");
  EXPECT_EQ(refusal({one, shard_of(litmus, 2, 3)}),
            "F2: results[0]: found '" + name + "' (sc, 3 shards), which F1 does not hold\n");
  EXPECT_EQ(refusal({one, shard_of(litmus + " --no-reduction", 2, 2)}),
            "F2: results[0]: found '" + name +
                "' (sc, no reduction, 2 shards), which F1 does not hold\n");
  EXPECT_EQ(
      refusal({one, shard_of(litmus + " --no-symmetry", 2, 2)}),
      "F2: results[0]: found '" + name + "' (sc, no symmetry, 2 shards), which F1 does not hold\n");
  EXPECT_EQ(refusal({one, cli::explore_printed(litmus + " --json").json()}),
            "F2: results[0]: found a search that is not in parts, expected one by --shard\n");
  const json other = shard_of("Z30 --memory sc", 2, 2);
  EXPECT_NE(refusal({one, other}).find("F2: results[0]: found 'a hypercall that returns"),
            std::string::npos);
  json changed = two;
  changed["results"][0]["shard"]["frontier"] = 1;
  EXPECT_NE(refusal({one, changed}).find("F2: found a frontier of 1 prefixes, expected "),
            std::string::npos);
  changed["results"][0]["shard"]["index"] = 3;
  EXPECT_EQ(refusal({one, changed}),
            "F2: results[0]: shard: index: found 3, expected a number from 1 to 2\n");
  EXPECT_EQ(refusal({json(3)}), "F1: found 3, expected what explore --json prints\n");
  EXPECT_EQ(refusal({{{"schema", "hvtlb-explore-1"}, {"results", json::array()}}}),
            "F1: found no results\n");
}

}  // namespace
}  // namespace hvtlb::explore
