// The JSON output of `hvtlb zoo`, `explore` and `eras`, as the program prints it, is what its
// schema describes.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "json_schema.h"

namespace hvtlb {
namespace {

/// What a subcommand prints.
nlohmann::json printed(cli::Command (*make)(CLI::App&), const std::string& arguments) {
  CLI::App app;
  const cli::Command command = make(app);
  app.parse(arguments);
  testing::internal::CaptureStdout();
  EXPECT_EQ(command.run(), cli::kExitHolds);
  std::fflush(stdout);
  return nlohmann::json::parse(testing::internal::GetCapturedStdout());
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

TEST(ErasJson, AllOneAndTwoFitTheSchema) {
  for (const char* arguments : {"eras --json", "eras --json v6.4", "eras --json v6.4 filtered"})
    expect_fits(printed(cli::make_eras, arguments), "eras.json");
}

}  // namespace
}  // namespace hvtlb
