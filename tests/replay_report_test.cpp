// What the user sees: JSON that its schema describes, text without kernel pointers.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "replay_trace.h"
#include "report/replay_explain.h"
#include "report/replay_json.h"
#include "report/replay_text.h"

namespace hvtlb {
namespace {

using Json = nlohmann::json;

void expect_valid(const Json& json) {
  for (const std::string& error : schema_errors(read_schema("replay.json"), json))
    ADD_FAILURE() << error;
}

ReplayTrace sample() {
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).idles(1, kMmB).comes(2, 11, kMmB);
  trace.flushes(2, kMmB, 0b110, 1).flushes(2, kMmB, 0b111, 2).line("rubbish");
  trace.sends(2, 0, 0b10, 0);
  return trace;
}

TEST(ReplayReport, JsonFitsItsSchema) {
  Json flushes = Json::array();
  const ReplayResult result = sample().replay(
      [&](const ReplayedFlush& flush) { flushes.push_back(replayed_flush_json(flush)); });
  Json json = replay_json(result, "file \xff\n");
  expect_valid(json);
  EXPECT_EQ(json["file"], "file ??");
  EXPECT_EQ(json["conformance"]["first_difference"]["recorded"], "0x7");
  json["flushes"] = flushes;
  expect_valid(json);
  ASSERT_EQ(flushes.size(), 3U);
  EXPECT_EQ(flushes[0]["eras"][1]["sent"], "2");
  EXPECT_FALSE(flushes[2].contains("start"));
}

TEST(ReplayReport, EmptyJsonFits) {
  const ReplayResult result = ReplayTrace().replay();
  expect_valid(replay_json(result, "-"));
  EXPECT_NE(replay_text(result, {"-", 10}).find("none to compare"), std::string::npos);
}

TEST(ReplayReport, NoKernelPointers) {
  std::string text;
  Json flushes = Json::array();
  const ReplayResult result = sample().replay([&](const ReplayedFlush& flush) {
    text += replayed_flush_text(flush, {"v6.12.117", "v6.17.5", "filtered"});
    flushes.push_back(replayed_flush_json(flush));
  });
  text += replay_text(result, {"file", 10}) + replay_json(result, "file").dump() + flushes.dump();
  EXPECT_EQ(text.find("ff1100000"), std::string::npos);
  EXPECT_NE(text.find("mm2"), std::string::npos);
}

TEST(ReplayReport, TextSaysWhatMatters) {
  const std::string text = replay_text(sample().replay(), {"file", 10});
  for (const std::string_view part :
       {"mask before flush: 1 of 2 equal (50.0 %)", "recorded 0x7, model 0x6",
        "1 line could not be read (first: line 16)", "1 flush without an mm",
        "With filtered instead of v6.17.5"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ReplayReport, ARecordingWithoutMasksSaysSo) {
  constexpr std::string_view kNoMasks = "NO MASKS WERE RECORDED";
  EXPECT_EQ(replay_text(sample().replay(), {"file", 10}).find(kNoMasks), std::string::npos);
  ReplayTrace trace;
  trace.comes(0, 10, kMmA).forks(0, 11).comes(1, 11, kMmB).idles(1, kMmB).comes(2, 11, kMmB);
  trace.calls(2, kMmB).calls(2, kMmB).sched(2, 0);
  const std::string text = replay_text(trace.replay(), {"file", 10});
  EXPECT_NE(text.find(kNoMasks), std::string::npos) << text;
  EXPECT_NE(text.find("2 flushes go to more than this CPU by the model"), std::string::npos)
      << text;
}

TEST(ReplayReport, WaysOfSendingAreToldApart) {
  EraTotals era;
  era.name = "filtered";
  era.flushes = 8;
  era.hypercalls = era.by_hypercall = era.all_processors = 1;
  era.targets = 8;
  era.native = 7;
  era.no_ipi = 4;
  era.immediate_trims = 2;
  era.periodic_trims = 1;
  era.ipis = 21;
  ReplayResult result;
  result.eras = {era};
  EXPECT_EQ(explain_replay(result).front(),
            "filtered: 1 hypercall to all processors (8 CPUs), 4 native flushes without an IPI, 2 "
            "immediate trims and 1 periodic trim round (21 IPIs).\n"
            "  0 CPUs reached, 0 of them in vain (0 %).");
}

TEST(ReplayReport, OneFlush) {
  std::vector<std::string> lines;
  sample().replay([&](const ReplayedFlush& flush) {
    lines.push_back(replayed_flush_text(flush, {"v6.12.117", "v6.17.5", "filtered"}));
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("mask 1-2 "), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("mask 0-2 (model 1-2)"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("batch"), std::string::npos) << lines[2];
}

TEST(ReplayReport, OnlyAllIsAHundredPercent) {
  EXPECT_EQ(percent_text(999'999, 1'000'000), "99.9 %");
  EXPECT_EQ(percent_text(1, 1'000'000), "0.1 %");
  EXPECT_EQ(percent_text(7, 7), "100 %");
  EXPECT_EQ(percent_text(0, 7), "0 %");
}

}  // namespace
}  // namespace hvtlb
