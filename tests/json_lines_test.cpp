// JSON lines: one answer a line, in order, a refused line answered in its place.
#include "cli/json_lines.h"

#include <gtest/gtest.h>
#include <sstream>

namespace hvtlb::cli {
namespace {

Json echo(const Json& line) {
  Fields fields(line);
  fields.has("id");
  const u64 n = fields.number("n", 0, 9);
  fields.finish();
  return {{"n", n}};
}

std::string answers(const std::string& text, int expected_exit) {
  std::istringstream in(text);
  std::ostringstream out;
  EXPECT_EQ(answer_lines(in, out, echo), expected_exit);
  return out.str();
}

TEST(JsonLines, OneAnswerALineInOrder) {
  EXPECT_EQ(answers("{\"n\":1}\n{\"n\":2}\n", 0), "{\"n\":1}\n{\"n\":2}\n");
  EXPECT_EQ(answers("{\"n\":1}", 0), "{\"n\":1}\n") << "the last line needs no end";
  EXPECT_EQ(answers("", 0), "");
}

TEST(JsonLines, ARefusedLineIsAnsweredInItsPlaceAndTheRestGoesOn) {
  EXPECT_EQ(answers("{\"n\":1}\n{\"id\":\"x\",\"n\":77}\n{\"n\":3}\n", 1),
            "{\"n\":1}\n"
            "{\"error\":\"n: found 77, expected a number from 0 to 9\",\"id\":\"x\"}\n"
            "{\"n\":3}\n");
}

TEST(JsonLines, WhatIsNoObjectIsRefused) {
  for (const char* line :
       {"{\"n\":", "", "nothing", "\"text\"", "[1]", "7", "{\"n\":1}{\"n\":1}"}) {
    const std::string answer = answers(std::string(line) + "\n", 1);
    EXPECT_EQ(answer.find("{\"error\":\"found no JSON"), 0u) << line << " " << answer;
    EXPECT_NE(answer.find("\"id\":null"), std::string::npos);
  }
}

TEST(JsonLines, BytesThatAreNoTextAreRefusedAndTheAnswerIsText) {
  const std::string answer = answers("{\"id\":1,\"n\":\"\xff\xfe\"}\n", 1);
  EXPECT_FALSE(Json::parse(answer, nullptr, false).is_discarded());
}

TEST(JsonLines, AnEndlessLineIsRefusedOnce) {
  const std::string longer(kMaxLineBytes + 10, ' ');
  const std::string answer = answers(longer + "\n{\"n\":4}\n", 1);
  EXPECT_NE(answer.find("the line is longer than"), std::string::npos);
  EXPECT_NE(answer.find("\n{\"n\":4}\n"), std::string::npos);
}

TEST(JsonLines, LongValuesAreCutInMessages) {
  const Json line{{"n", std::string(5000, 'x')}};
  try {
    echo(line);
    FAIL();
  } catch (const LineError& error) {
    EXPECT_LT(error.what.size(), 120u);
  }
}

TEST(JsonLines, NestingIsBoundedAndTheNextLineIsAnswered) {
  const auto nested = [](std::size_t depth) {  // the object itself is one
    return "{\"id\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + ",\"n\":1}\n";
  };
  EXPECT_EQ(answers(nested(kMaxJsonDepth), 0), "{\"n\":1}\n");
  for (const std::size_t depth : {std::size_t{kMaxJsonDepth + 1}, std::size_t{100'000}})
    EXPECT_EQ(answers(nested(depth) + "{\"n\":2}\n", 1),
              "{\"error\":\"found more than 64 objects and lists in one another, expected at most "
              "64\",\"id\":null}\n{\"n\":2}\n");
}

TEST(JsonLines, AKeyThatStandsTwiceIsRefused) {
  EXPECT_EQ(answers("{\"id\":7,\"n\":1,\"n\":2}\n{\"n\":3}\n", 1),
            "{\"error\":\"n: found twice\",\"id\":7}\n{\"n\":3}\n");
  EXPECT_EQ(answers("{\"id\":7,\"id\":8,\"n\":1}\n", 1),
            "{\"error\":\"id: found twice\",\"id\":null}\n");
  EXPECT_NE(answers("{\"id\":[{\"a\":1,\"a\":2}],\"n\":1}\n", 1).find("a: found twice"),
            std::string::npos);
  EXPECT_EQ(answers("{\"id\":[{\"n\":1},{\"n\":1}],\"n\":1}\n", 0), "{\"n\":1}\n");
}

TEST(JsonLines, Flags) {
  const Json line = Json::parse(R"({"a":true,"b":false,"c":1,"d":0,"e":2,"f":"true","g":1.0})");
  Fields fields(line);
  EXPECT_TRUE(fields.flag("a"));
  EXPECT_FALSE(fields.flag("b"));
  EXPECT_TRUE(fields.flag("c"));
  EXPECT_FALSE(fields.flag("d"));
  for (const char* key : {"e", "f", "g", "none"}) EXPECT_THROW(fields.flag(key), LineError) << key;
  EXPECT_TRUE(fields.flag_or("none", true));
  EXPECT_NO_THROW(fields.finish());
}

TEST(JsonLines, KeysThatNobodyAskedForAreRefused) {
  const Json line = Json::parse(R"({"n":1,"m":2})");
  Fields fields(line);
  fields.number("n", 0, 9);
  EXPECT_THROW(fields.finish(), LineError);
}

TEST(JsonLines, HexAndMasks) {
  const Json line = Json::parse(R"({"a":"0xFfFf","b":"0x0","c":"0x8000000000000000",
      "m":"0x20000000000000001"})");
  Fields fields(line);
  EXPECT_EQ(fields.hex("a"), 0xffffu);
  EXPECT_EQ(fields.hex("b"), 0u);
  EXPECT_EQ(fields.hex("c"), u64{1} << 63);
  EXPECT_EQ(fields.hex_or("none", 5), 5u);
  EXPECT_EQ(fields.mask("m", 66).to_list(), "0,65");
  EXPECT_THROW(fields.mask("m", 65), LineError);
  EXPECT_NO_THROW(fields.finish());
}

TEST(JsonLines, BytesAreLittleEndFirst) {
  const u64 words[] = {0x1122334455667788, 0xff};
  EXPECT_EQ(byte_text(words, 9), "8877665544332211ff");
  EXPECT_EQ(byte_text(words, 0), "");
  EXPECT_EQ(hex_text(0), "0x0");
  EXPECT_EQ(hex_text(0xABCD), "0xabcd");
}

}  // namespace
}  // namespace hvtlb::cli
