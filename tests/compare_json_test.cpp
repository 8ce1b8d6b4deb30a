// Every JSON output of compare and eras is what its schema describes.
#include "report/compare_json.h"

#include <gtest/gtest.h>

#include "json_schema.h"
#include "report/compare_html.h"
#include "report/compare_text.h"
#include "scenario/builtin.h"

namespace hvtlb {
namespace {

Comparison run(std::string_view name, const std::vector<std::string>& eras) {
  const auto scenario =
      read_scenario(std::string(find_builtin_scenario(name)->text), std::string(name), 8);
  std::vector<NamedRules> rules;
  for (const std::string& era : eras) rules.push_back({era, find_era(era), find_era(era)->rules});
  auto result = compare(std::get<Scenario>(scenario), rules, nullptr, nullptr);
  return std::get<Comparison>(std::move(result));
}

TEST(CompareJson, EveryBuiltinFitsTheSchema) {
  const CostModel cost{1.5, 0.25, 2, 0.1};
  for (const BuiltinScenario& each : builtin_scenarios()) {
    const std::vector<Comparison> runs{run(each.name, {"v6.4", "v6.17.5", "filtered"})};
    for (const CostModel* model : {&cost, static_cast<const CostModel*>(nullptr)})
      for (const std::string& error :
           schema_errors(read_schema("compare.json"), compare_json(runs, 10, model)))
        ADD_FAILURE() << each.name << ": " << error;
  }
}

TEST(CompareJson, RowsThatAreLeftOutAreCounted) {
  const std::vector<Comparison> runs{run("dataloader", {"v6.17.5"})};
  const auto json = compare_json(runs, 3, nullptr);
  const auto& era = json["runs"][0]["eras"][0];
  EXPECT_EQ(era["flushes"].size(), 3u);
  EXPECT_EQ(era["flushes_left_out"].get<u64>() + 3, runs[0].eras[0].rows.size());
}

TEST(CompareText, TheCostModelIsShownWithItsNumbers) {
  CompareTextOptions options;
  const Comparison c = run("threads", {"v6.17.5", "filtered"});
  EXPECT_EQ(compare_text(c, options).find("cost model"), std::string::npos);
  options.cost = CostModel{1, 0.5, 2, 0.1};
  // 2000 calls, and 8 or 4 targets each.
  EXPECT_NE(compare_text(c, options)
                .find("hypercall 1, target 0.5, IPI 2, local 0.1:  v6.17.5 10000.0 (10.000 an "
                      "iteration)  filtered 6000.0 (6.000 an iteration)"),
            std::string::npos);
}

TEST(CompareHtml, ThePageIsSelfContainedAndEscaped) {
  Comparison c = run("regression-lazy", {"v6.17.5", "filtered"});
  c.title = "<script>alert(1)</script>";
  const std::string html = compare_html({c});
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("href="), std::string::npos);
  EXPECT_NE(html.find("class=\"lazy\""), std::string::npos);
}

}  // namespace
}  // namespace hvtlb
