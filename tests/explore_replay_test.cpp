// `hvtlb explore --replay`: every counterexample of the catalogue runs again from its file, and a
// file that does not fit is refused with one line.
#include "explore/litmus_file.h"
#include "explore_output.h"
#include "json_schema.h"
#include "zoo/scenarios.h"

namespace hvtlb::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kSame = "The same as in the file, after the last step.";

Printed replayed(const json& document) {
  const TempFile file(document.dump());
  Printed printed = explore_printed("--replay " + file.path());
  if (const auto at = printed.error.find(file.path()); at != std::string::npos)
    printed.error.replace(at, file.path().size(), "F");
  return printed;
}

/// The one result of Z03 that is violated.
json z03() {
  return explore_printed("Z03 --memory tso --json").json()["results"][0];
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t nr = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++nr;
  return nr;
}

/// The table in what is printed.
std::string table_in(const std::string& text) {
  const std::size_t begin = text.find(" step |");
  return text.substr(begin, text.find("\n\n", begin) - begin);
}

TEST(ExploreReplay, EveryCounterexampleOfTheCatalogueIsTheSame) {
  u32 violated = 0;
  for (const auto& [name, text] : zoo::litmuses()) {
    const auto file = explore::read_litmus(std::string(text), std::string(name));
    const auto& litmus = std::get<explore::LitmusFile>(file);
    if (!litmus.sc.violates && !litmus.tso.violates) continue;
    SCOPED_TRACE(name);
    ++violated;
    const json document = explore_printed(std::string(name) + " --json").json();
    EXPECT_EQ(schema_errors(read_schema("explore.json"), document).size(), 0u);
    const Printed again = replayed(document);
    EXPECT_EQ(again.exit_code, kExitViolated) << again.error;
    EXPECT_EQ(count(again.out, kSame),
              u32{litmus.sc.violates.has_value()} + u32{litmus.tso.violates.has_value()});
  }
  EXPECT_GT(violated, 10u);
}

TEST(ExploreReplay, ThePrintedTableIsThatOfTheSearch) {
  const Printed found = explore_printed("Z03 --memory tso");
  const Printed again = replayed(z03());
  EXPECT_GT(table_in(found.out).size(), 1000u);
  EXPECT_EQ(table_in(again.out), table_in(found.out));
}

TEST(ExploreReplay, WhatDiffersIsSaid) {
  json changed = z03();
  json& steps = changed["counterexample"]["steps"];
  steps.erase(steps.size() - 1);
  Printed again = replayed(changed);
  EXPECT_EQ(again.exit_code, kExitHolds);
  EXPECT_NE(again.out.find("NOT THE SAME as in the file: no property breaks"), std::string::npos);

  changed = z03();
  changed["counterexample"]["steps"].push_back({{"action", 0}, {"cpu", 0}, {"text", ""}});
  EXPECT_EQ(replayed(changed).exit_code, kExitUsage) << "CPU 0 has ended";

  changed = z03();
  changed["counterexample"]["why"] = "P2";
  again = replayed(changed);
  EXPECT_EQ(again.exit_code, kExitHolds);
  EXPECT_NE(again.out.find("older translation; the file says: P2\n"), std::string::npos);

  changed = z03();
  changed["counterexample"]["steps"][5]["text"] = "reads\nB";
  EXPECT_NE(replayed(changed).out.find("step 6 is 'reads B.tlb_gen = 0', and the file says "
                                       "'reads\\nB'\n"),
            std::string::npos);
}

TEST(ExploreReplay, APropertyThatBreaksEarlierIsNotTheSame) {
  // Z30 breaks when the flush returns; what comes behind is no part of the counterexample.
  json changed = explore_printed("Z30 --memory sc --json").json()["results"][0];
  json& steps = changed["counterexample"]["steps"];
  const std::size_t nr_steps = steps.size();
  // The host still has to flush CPU 1 for CPU 0: action kEffect.
  steps.push_back(
      {{"action", 49}, {"cpu", 1}, {"text", "the host flushes its TLB for the call of CPU 0"}});
  const Printed again = replayed(changed);
  EXPECT_EQ(again.exit_code, kExitHolds) << again.error;
  EXPECT_NE(again.out.find("after step " + std::to_string(nr_steps) + " of " +
                           std::to_string(nr_steps + 1) + ": P8"),
            std::string::npos)
      << again.out;
}

std::string refusal(const json& document) {
  const Printed printed = replayed(document);
  EXPECT_EQ(printed.exit_code, kExitUsage);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(count(printed.error, "\n"), 1u) << printed.error;
  return printed.error.substr(0, printed.error.find('\n'));
}

TEST(ExploreReplay, WhatDoesNotFitIsRefused) {
  const json good = z03();
  const auto with = [&](const char* pointer, const json& value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = value;
    return refusal(changed);
  };
  EXPECT_EQ(with("/counterexample/steps/5/cpu", 0),
            "F: counterexample: step 6: cpu: found 0, expected 1, where action 1 happens");
  EXPECT_EQ(with("/counterexample/steps/5/action", 64),
            "F: counterexample: step 6: action: found 64, expected a number from 0 to 63");
  EXPECT_EQ(with("/counterexample/steps/5", 7),
            "F: counterexample: step 6: found 7, expected an object");
  EXPECT_EQ(with("/counterexample/steps", 7), "F: counterexample: steps: found 7, expected a list");
  EXPECT_EQ(with("/counterexample", 7), "F: counterexample: found 7, expected an object");
  EXPECT_EQ(with("/memory", "arm"), "F: memory: found 'arm', expected sc or tso");
  EXPECT_EQ(with("/source", "x"), "F: source:1:1: found 'x', expected a litmus");
  EXPECT_EQ(with("/memory", "sc"),
            "F: step 8: found action 16, a store of CPU 0 reaches memory, which is not possible "
            "there, expected CPU 0 takes its next step, or CPU 1 takes its next step");
  json without = good;
  without.erase("source");
  EXPECT_EQ(refusal(without), "F: source: missing");
  without.erase("counterexample");
  without = {{"schema", "hvtlb-explore-1"}, {"results", {without}}};
  EXPECT_EQ(refusal(without), "F: found no counterexample, expected a result that is violated");
  without["schema"] = "hvtlb-explore-2";
  EXPECT_EQ(refusal(without), "F: schema: found 'hvtlb-explore-2', expected hvtlb-explore-1");
  without = {{"schema", "hvtlb-explore-1"}, {"results", {good, 3}}};
  EXPECT_EQ(refusal(without), "F: results[1]: found 3, expected an object");
  EXPECT_EQ(refusal(json(3)), "F: found 3, expected what explore --json prints");
}

TEST(ExploreReplay, WhatIsNoJsonIsRefused) {
  const std::string deep(1000, '[');
  for (const std::string& text : {std::string("{"), std::string(), deep}) {
    const TempFile file(text);
    const Printed printed = explore_printed("--replay " + file.path());
    EXPECT_EQ(printed.exit_code, kExitUsage);
    EXPECT_EQ(count(printed.error, "\n"), 1u);
  }
}

}  // namespace
}  // namespace hvtlb::cli
