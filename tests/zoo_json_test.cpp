// The JSON output of `hvtlb zoo`, `explore` and `eras`, as the program prints it, is what its
// schema describes.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "json_schema.h"

namespace hvtlb {
namespace {

/// What a subcommand prints.
nlohmann::json printed(cli::Command (*make)(CLI::App&), const std::string& arguments,
                       int exit_code = cli::kExitHolds) {
  CLI::App app;
  const cli::Command command = make(app);
  app.parse(arguments);
  testing::internal::CaptureStdout();
  const int ended = command.run();
  std::fflush(stdout);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(ended, exit_code);
  return nlohmann::json::parse(text);
}

void expect_fits(const nlohmann::json& answer, const std::string& schema) {
  for (const std::string& error : schema_errors(read_schema(schema), answer))
    ADD_FAILURE() << error << " in " << answer.dump().substr(0, 500);
}

TEST(ZooJson, EverySubcommandFitsTheSchema) {
  const auto list = printed(cli::make_zoo, "zoo list --json");
  expect_fits(list, "zoo.json");
  std::set<std::string> kinds;
  for (const auto& entry : list["entries"]) {
    // One entry of every kind.
    if (!kinds.insert(entry["kind"]).second) continue;
    const std::string id = entry["id"];
    expect_fits(printed(cli::make_zoo, "zoo show --json " + id), "zoo.json");
    const auto run = printed(cli::make_zoo, "zoo run --json " + id);
    expect_fits(run, "zoo.json");
    EXPECT_EQ(run["missed"], 0);
  }
  EXPECT_EQ(kinds.size(), 3u);
}

TEST(ExploreJson, WhatHoldsAndWhatIsViolatedFitTheSchema) {
  const auto answer = printed(cli::make_explore, "explore --json Z03 switch");
  expect_fits(answer, "explore.json");
  ASSERT_EQ(answer["results"].size(), 4u);
  EXPECT_EQ(answer["results"][0]["verdict"], "holds");
  EXPECT_EQ(answer["results"][1]["verdict"], "violated");
  EXPECT_EQ(answer["results"][1]["property"], "P1");
  EXPECT_GT(answer["results"][1]["counterexample"]["steps"].size(), 20u);
  for (const auto& result : answer["results"]) EXPECT_EQ(result["as_expected"], true);
}

TEST(MatrixJson, FitsTheSchemaAndLeavesOutWhatAnEraDoesNotKnow) {
  const auto answer = printed(cli::make_matrix, "matrix porting --json");
  expect_fits(answer, "matrix.json");
  ASSERT_EQ(answer["rows"].size(), 10u);
  EXPECT_EQ(answer["rows"][0]["name"], "v6.1 + fix");
  EXPECT_FALSE(answer["rows"][0]["cells"].contains("global-asid"));
  EXPECT_EQ(answer["rows"][9]["cells"]["global-asid-lazy"]["tso"]["verdict"], "lazy");
  EXPECT_EQ(answer["rows"][8]["cells"]["switch-of-three"]["sc"]["verdict"], "holds");
  EXPECT_EQ(answer["rows"][8]["cells"]["switch-of-three"]["tso"]["verdict"], "P1");
}

TEST(EnvironmentJson, WhatHoldsAndWhatIsViolatedFitTheSchema) {
  const auto holds = printed(cli::make_environment, "environment --json --alone --flush tables");
  expect_fits(holds, "environment.json");
  ASSERT_EQ(holds["results"].size(), 4u);
  for (const auto& result : holds["results"]) {
    EXPECT_EQ(result["exhausted"], true);
    EXPECT_EQ(result["violates"], nullptr);
    EXPECT_EQ(result["steps"].size(), 0u);
  }
  const auto violated = printed(cli::make_environment,
                                "environment --json --alone --flush tables --path hyperv "
                                "--set freed_tables=skip_lazy --memory sc",
                                cli::kExitViolated);
  expect_fits(violated, "environment.json");
  ASSERT_EQ(violated["results"].size(), 1u);
  EXPECT_EQ(violated["results"][0]["violates"], "P2");
  EXPECT_GT(violated["results"][0]["steps"].size(), 10u);
}

TEST(ErasJson, AllOneAndTwoFitTheSchema) {
  for (const char* arguments : {"eras --json", "eras --json v6.4", "eras --json v6.4 filtered"})
    expect_fits(printed(cli::make_eras, arguments), "eras.json");
}

}  // namespace
}  // namespace hvtlb
