// Requests and scripts with the answers that Linux 6.12.117's own code gave (tests/data/kernel):
// `encode` and `step` must give the same.
#include <fstream>
#include <gtest/gtest.h>

#include "cli/encode.h"
#include "cli/step.h"

namespace hvtlb::cli {
namespace {

/// The file's lines without its heading.
std::vector<Json> vectors(const char* name) {
  std::ifstream file(std::string(HVTLB_SOURCE_DIR "/tests/data/kernel/") + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#")) lines.push_back(Json::parse(line));
  return lines;
}

TEST(KernelVectors, Encode) {
  const auto lines = vectors("encode-linux-6.12.117.jsonl");
  EXPECT_GT(lines.size(), 30u);
  for (const Json& line : lines)
    EXPECT_EQ(encode_line(line["request"]), line["answer"]) << line["request"].dump();
}

TEST(KernelVectors, Step) {
  const auto lines = vectors("step-linux-6.12.117.jsonl");
  EXPECT_GT(lines.size(), 50u);
  std::optional<StepScript> script;
  for (const Json& line : lines) {
    if (!line["line"].contains("op")) script.emplace();
    Json answer = script->answer(line["line"]);
    EXPECT_TRUE(!answer.contains("violations") || answer["violations"].empty());
    answer.erase("violations");
    EXPECT_EQ(answer, line["answer"]) << line["line"].dump();
  }
}

}  // namespace
}  // namespace hvtlb::cli
