// `hvtlb decode`: the JSON lines around the decoder.
#include <gtest/gtest.h>
#include <sstream>

#include "cli/decode.h"

namespace hvtlb::cli {
namespace {

/// The answer to one line, and the exit code of a run with only that line.
std::pair<Json, int> answer(const std::string& line) {
  std::istringstream in(line + "\n");
  std::ostringstream out;
  const int exit_code = answer_lines(in, out, decode_line);
  return {Json::parse(out.str()), exit_code};
}

std::string error_of(const std::string& line) {
  const auto [reply, exit_code] = answer(line);
  EXPECT_EQ(exit_code, 1) << line;
  EXPECT_EQ(reply["id"], 1) << line;
  EXPECT_EQ(reply.size(), 2U) << line;
  return reply.value("error", "");
}

const std::string kSpace = "001000000000000000000000000000000300000000000000";

TEST(HostDecode, Space) {
  const auto [reply, exit_code] =
      answer(R"({"id":"a","profile":"kvm","control":"0x2","vps":[5,1,0],"self":0,"input":")" +
             kSpace + "\"}");
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(reply, Json::parse(R"({"id":"a","status":0,"flushed":[0,1],"everything":true,
                                   "ranges":[],"reps_completed":0})"));
}

TEST(HostDecode, ListOfTheSpecification) {
  // The hypercall of the example of `encode`.
  const auto [reply, exit_code] = answer(
      R"({"id":1,"profile":"tlfs","control":"0x100000003","vps":[0,1,2,3],"self":0,"gpa_offset":8,)"
      R"("input":"00100000000000000000000000000000030000000000000000000000007f0000"})");
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(reply, Json::parse(R"({"id":1,"status":0,"flushed":[0,1],"everything":false,
                                   "ranges":[["0x7f0000000000",1]],"reps_completed":1,
                                   "all_errors":[]})"));
}

TEST(HostDecode, AllErrors) {
  const auto [reply, exit_code] = answer(
      R"({"id":1,"profile":"tlfs","control":"0x2","vps":[0],"self":0,"gpa_offset":4,"input":")" +
      std::string(48, '0') + "\"}");
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(reply, Json::parse(R"({"id":1,"status":4,"flushed":[],"everything":false,"ranges":[],
                                   "reps_completed":0,"all_errors":[4,5]})"));
}

TEST(HostDecode, Registers) {
  std::string regs = R"("0x1000","0x0","0x2")";
  for (int more = 3; more < 14; ++more) regs += R"(,"0x0")";
  const std::string head = R"({"id":1,"profile":"openhcl","vps":[0,1],"self":0,"fast":true,)";
  EXPECT_EQ(answer(head + R"("control":"0x10002","regs":[)" + regs + "]}").first["flushed"],
            Json::parse("[1]"));
  EXPECT_NE(error_of(head + R"("control":"0x2","regs":[)" + regs + "]}"), "");
  EXPECT_NE(error_of(head + R"("control":"0x10002","regs":[)" + regs + R"(,"0x0"]})"), "");
  EXPECT_NE(error_of(head + R"("control":"0x10002"})"), "");
  EXPECT_NE(error_of(head + R"("control":"0x10002","gpa_offset":0,"regs":[)" + regs + "]}"), "");
  EXPECT_NE(error_of(head + R"("control":"0x10002","input":"","regs":[)" + regs + "]}"), "");
}

TEST(HostDecode, Refused) {
  const auto line = [](const std::string& profile, const std::string& control,
                       const std::string& rest) {
    return R"({"id":1,"profile":)" + profile + R"(,"control":)" + control + rest + "}";
  };
  const std::string good = R"(,"vps":[0],"self":0,"input":")" + kSpace + "\"";
  EXPECT_EQ(answer(line("\"xen\"", "\"0x2\"", good)).second, 0);
  EXPECT_NE(error_of(line("\"hyperv\"", "\"0x2\"", good)), "");
  EXPECT_NE(error_of(line("7", "\"0x2\"", good)), "");
  EXPECT_NE(error_of(line("\"xen\"", "2", good)), "");
  EXPECT_NE(error_of(line("\"xen\"", "\"2\"", good)), "");
  EXPECT_NE(error_of(line("\"xen\"", "\"0x10002\"", good)), "");
  for (const char* more : {R"(,"odd":1)", R"(,"gpa_offset":4096)", R"(,"gpa_offset":-1)",
                           R"(,"gpa_offset":"0x0")", R"(,"fast":2)", R"(,"regs":[])"})
    EXPECT_NE(error_of(line("\"xen\"", "\"0x2\"", good + more)), "") << more;
  for (const char* rest :
       {R"(,"vps":[0],"self":0)", R"(,"vps":[0],"self":0,"input":"0")",
        R"(,"vps":[0],"self":0,"input":"0g")", R"(,"vps":[0],"self":0,"input":"0x00")",
        R"(,"vps":[0],"self":0,"input":[0])", R"(,"vps":[-1],"self":0,"input":"")",
        R"(,"vps":[0.5],"self":0,"input":"")", R"(,"vps":["0"],"self":0,"input":"")",
        R"(,"vps":{},"self":0,"input":"")", R"(,"vps":[4294967296],"self":0,"input":"")",
        R"(,"self":0,"input":"")", R"(,"vps":[0],"input":"")",
        R"(,"vps":[0],"self":-1,"input":"")"})
    EXPECT_NE(error_of(line("\"xen\"", "\"0x2\"", rest)), "") << rest;
  EXPECT_EQ(answer(R"({"profile":"xen"})").second, 1);
}

TEST(HostDecode, InputLength) {
  const std::string head =
      R"({"id":1,"profile":"tlfs","control":"0x2","vps":[0],"self":0,"input":")";
  EXPECT_EQ(answer(head + "\"}").first["status"], 3);
  EXPECT_EQ(kMaxInputBytes, 40976u);
  EXPECT_EQ(answer(head + std::string(2 * kMaxInputBytes, '0') + "\"}").second, 0);
  EXPECT_NE(error_of(head + std::string(2 * (kMaxInputBytes + 1), '0') + "\"}"), "");
}

}  // namespace
}  // namespace hvtlb::cli
