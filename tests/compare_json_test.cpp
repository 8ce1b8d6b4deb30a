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

TEST(CompareJson, FlushesThatAreLeftOutAreCountedNotRows) {
  const std::vector<Comparison> runs{run("dataloader", {"v6.17.5"})};
  for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 3, 1000}) {
    const auto json = compare_json(runs, rows, nullptr);
    const auto& era = json["runs"][0]["eras"][0];
    u64 listed = 0;
    for (const auto& row : era["flushes"]) listed += row["count"].get<u64>();
    EXPECT_EQ(era["flushes_left_out"].get<u64>() + listed, runs[0].eras[0].total.flushes) << rows;
    EXPECT_EQ(era["flushes_left_out"] == 0, rows == 1000) << rows;
  }
}

/// Zoo Z14 on a host that answers success: nobody is flushed.
std::vector<Comparison> missed() {
  const auto scenario = read_scenario(
      "hvtlb-scenario: 1\n"
      "machine: {cpus: 8, hv_max_vp_index: 5000, host: kvm, vp: {offset: 64}}\n"
      "processes: {A: {threads: 4}}\n"
      "steps:\n"
      "  - each cpu of 0-3: run A\n"
      "  - mprotect A 1 page on 0\n",
      "missed.yaml");
  const Era& era = *find_era("v6.17.5");
  auto result =
      compare(std::get<Scenario>(scenario),
              {{"v6.17.5", &era, era.rules}, {"v6.17.5*", nullptr, era.rules}}, nullptr, nullptr);
  return {std::get<Comparison>(std::move(result))};
}

TEST(CompareJson, ViolationsFitTheSchema) {
  const auto json = compare_json(missed(), 10, nullptr);
  for (const std::string& error : schema_errors(read_schema("compare.json"), json))
    ADD_FAILURE() << error;
  const auto& eras = json["runs"][0]["eras"];
  EXPECT_EQ(eras[0]["violations"][0]["known_fault"], "Z14");
  EXPECT_EQ(eras[0]["nr_unexplained"], 0);
  EXPECT_FALSE(eras[1]["violations"][0].contains("known_fault"));
  EXPECT_EQ(json["runs"][0]["host"], "kvm");
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

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareText, ASweepSaysWhatItsNumbersAre) {
  CompareTextOptions options;
  options.cost = CostModel{1, 0.5, 2, 0.1};
  const std::vector<Comparison> measured{run("threads", {"v6.17.5", "filtered"})};
  const std::string parts = sweep_text(measured, options);
  EXPECT_TRUE(contains(parts, "Per measured iteration:")) << parts;
  EXPECT_TRUE(contains(parts, "10000.000 -> 6000.000 microseconds in all measured iterations"));
  EXPECT_TRUE(contains(parts, "immediate trims in all measured iterations"));
  const std::string whole = sweep_text(missed(), options);
  EXPECT_TRUE(contains(whole, "Whole runs:")) << whole;
  EXPECT_TRUE(contains(whole, "1.000 -> 1.000 microseconds in the whole run")) << whole;
  EXPECT_FALSE(contains(whole, "iteration"));
}

TEST(CompareText, RequestsWithoutAProcess) {
  FlushRow row;
  row.caller = Verb::kBatchFlush;
  EXPECT_EQ(request_text(row), "batch_flush, on CPU 0");
}

TEST(CompareText, AMissedFlushAndItsVerdict) {
  const std::string text = compare_text(missed()[0], {});
  EXPECT_TRUE(contains(text, "4 MISSED")) << text;
  EXPECT_TRUE(contains(text, "[known fault Z14]")) << text;
  EXPECT_TRUE(contains(text, "v6.17.5: violated, but a known fault of the era (Z14): exit 0"));
  EXPECT_TRUE(contains(text, "v6.17.5*: violated, and no known fault of the era explains it"));
  EXPECT_TRUE(contains(text, "hv_max_vp_index 5000, HZ 250, PCID on, Hyper-V, host kvm")) << text;
}

TEST(CompareHtml, AMissedFlushIsLoud) {
  const std::string html = compare_html(missed());
  EXPECT_TRUE(contains(html, "class=\"missed\" x="));
  EXPECT_FALSE(contains(html, "class=\"mask\" x="));
  EXPECT_TRUE(contains(html, "CPUs 0-3: MISSED: needed and not reached"));
  EXPECT_TRUE(contains(html, "<td class=\"part1\">of them needed</td><td>0</td><td>0</td>"));
  EXPECT_TRUE(contains(html, "<tr class=\"loud\"><td class=\"part0\">MISSED"));
  EXPECT_TRUE(contains(html, "v6.17.5: violated, but a known fault of the era (Z14): exit 0"));
  EXPECT_TRUE(contains(html, "<li>P1 (no missed flush)"));
  EXPECT_TRUE(contains(html, "<p class=\"about\">8 CPUs, VP of CPU n = 64 + n"));
}

TEST(CompareHtml, ManyCpusAndRowsFit) {
  const auto scenario = read_scenario(
      "hvtlb-scenario: 1\n"
      "machine: {cpus: 4096}\n"
      "processes: {A: {threads: 4096}}\n"
      "steps:\n"
      "  - each cpu: run A\n"
      "  - each cpu of 1-50: mprotect A 1 page\n"
      "  - each cpu but 7: idle\n"
      "  - mprotect A 1 page on 7\n",
      "wide.yaml");
  const Era& era = *find_era("filtered");
  auto result =
      compare(std::get<Scenario>(scenario), {{"filtered", &era, era.rules}}, nullptr, nullptr);
  Comparison c = std::get<Comparison>(std::move(result));
  EXPECT_TRUE(contains(compare_html({c}), "... and 11 more flushes, not in the picture"));
  c.eras[0].rows.erase(c.eras[0].rows.begin(), c.eras[0].rows.end() - 1);
  const std::string html = compare_html({c});
  EXPECT_TRUE(contains(html, "viewBox=\"0 0 1100 "));
  EXPECT_TRUE(contains(html, "width=\"1.50\" height=\"14\"><title>CPU 7: needed and reached"))
      << "a single CPU among thousands is wide enough to be seen";
  EXPECT_TRUE(contains(html, "<text class=\"axis\""));
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
