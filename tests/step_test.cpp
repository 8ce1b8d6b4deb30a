// `hvtlb step`: the machine line, the events in order, the state afterwards, refused operations.
#include "cli/step.h"

#include <gtest/gtest.h>

namespace hvtlb::cli {
namespace {

class Step : public testing::Test {
 protected:
  Json machine(const char* more = "", const char* path = "native") {
    return say(std::string(R"({"nr_cpus":3,"nr_mms":2,"era":"v6.12.117","path":")") + path + "\"" +
               more + "}");
  }
  Json say(const std::string& line) { return script_.answer(Json::parse(line)); }
  Json events(const std::string& line) { return say(line)["events"]; }
  std::string refusal(const std::string& line) {
    try {
      return "accepted: " + say(line).dump();
    } catch (const LineError& error) {
      return error.what;
    }
  }

  StepScript script_;
};

TEST_F(Step, TheFirstLineMakesTheMachine) {
  EXPECT_EQ(machine(), Json::parse(R"({"machine":"ok"})"));
  const Json answer = say(R"({"op":"tick","jiffies":380})");
  EXPECT_EQ(answer["events"], Json::array());
  EXPECT_EQ(answer["violations"], Json::array());
  EXPECT_EQ(answer["cpus"][2], Json::parse(R"({"mm":0,"lazy":0,"asid":0,"next_asid":1,
      "ctxs":[[1,1],[0,0],[0,0],[0,0],[0,0],[0,0]]})"));
  EXPECT_EQ(answer["mms"], Json::parse(R"([{"mask":"0x0","gen":0},{"mask":"0x0","gen":0}])"));
}

TEST_F(Step, SwitchesShowTheirCr3AndTheState) {
  machine();
  const Json answer = say(R"({"op":"switch_mm","cpu":1,"mm":2})");
  EXPECT_EQ(answer["events"],
            Json::parse(R"([{"e":"cr3","cpu":1,"pgd":"0x200000","pcid":2,"noflush":0}])"));
  EXPECT_EQ(answer["cpus"][1], Json::parse(R"({"mm":2,"lazy":0,"asid":1,"next_asid":2,
      "ctxs":[[1,1],[3,0],[0,0],[0,0],[0,0],[0,0]]})"));
  EXPECT_EQ(answer["mms"][1]["mask"], "0x2");
  EXPECT_EQ(events(R"({"op":"leave_mm","cpu":1})"),
            Json::parse(R"([{"e":"cr3","cpu":1,"pgd":"0x1000","pcid":1,"noflush":1}])"));
}

TEST_F(Step, ANativeFlushShowsItsIpisAndThenTheHandlers) {
  machine();
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  say(R"({"op":"switch_mm","cpu":2,"mm":1})");
  const Json answer = say(
      R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":"0x7000","end":"0x8000","stride_shift":12,
          "freed_tables":0})");
  EXPECT_EQ(answer["events"], Json::parse(R"([{"e":"ipi","cpus":"0x5"},
      {"e":"invlpg","cpu":0,"va":"0x7000"},{"e":"invlpg","cpu":2,"va":"0x7000"}])"));
  EXPECT_EQ(answer["mms"][0], Json::parse(R"({"mask":"0x5","gen":1})"));
  EXPECT_EQ(events(R"({"op":"flush_mm_range","cpu":1,"mm":2,"start":"0x0","end":"0x1"})"),
            Json::array())
      << "nobody runs mm 2";
}

TEST_F(Step, ALocalFlushHasNoIpi) {
  machine();
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  EXPECT_EQ(events(R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":"0x7000",
                       "end":"0xffffffffffffffff"})"),
            Json::parse(R"([{"e":"cr3","cpu":0,"pgd":"0x100000","pcid":2,"noflush":0}])"));
}

TEST_F(Step, AHypercallShowsItsFields) {
  machine("", "hyperv");
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  say(R"({"op":"switch_mm","cpu":1,"mm":1})");
  EXPECT_EQ(events(R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":"0x7000","end":"0x9000"})"),
            Json::parse(R"([{"e":"hcall","code":3,"reps":1,"as":"0x100000","flags":"0x0",
                "pm":"0x3","gva":["0x7001"]}])"));
  say(R"({"op":"batch_add","mm":1})");
  EXPECT_EQ(events(R"({"op":"batch_flush","cpu":0})"),
            Json::parse(R"([{"e":"hcall","code":2,"reps":0,"as":"0x0","flags":"0x6",
                "pm":"0x3"}])"));
}

TEST_F(Step, AnExCallShowsItsBanks) {
  say(R"({"nr_cpus":70,"nr_mms":1,"era":"v6.4","path":"hyperv"})");
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  say(R"({"op":"switch_mm","cpu":65,"mm":1})");
  EXPECT_EQ(events(R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":"0x7000","end":"0x8000"})"),
            Json::parse(R"([{"e":"hcall","code":20,"reps":1,"as":"0x100000","flags":"0x0",
                "valid_bank_mask":"0x3","banks":["0x1","0x2"],"gva":["0x7000"]}])"));
}

TEST_F(Step, OnlineWritesCr3OnceAndResetsTheSlots) {
  machine();
  say(R"({"op":"switch_mm","cpu":1,"mm":2})");
  say(R"({"op":"offline","cpu":1})");
  const Json answer = say(R"({"op":"online","cpu":1})");
  EXPECT_EQ(answer["events"],
            Json::parse(R"([{"e":"cr3","cpu":1,"pgd":"0x1000","pcid":1,"noflush":0}])"));
  EXPECT_EQ(answer["cpus"][1]["next_asid"], 1);
}

TEST_F(Step, WithoutPcidThePcidIsZero) {
  machine(",\"pcid\":false");
  EXPECT_EQ(events(R"({"op":"switch_mm","cpu":0,"mm":1})"),
            Json::parse(R"([{"e":"cr3","cpu":0,"pgd":"0x100000","pcid":0,"noflush":0}])"));
}

TEST_F(Step, ViolationsAreShown) {
  // A host that does what the input says keeps every promise; a machine cannot break one.
  machine("", "hyperv");
  for (const char* line : {R"({"op":"switch_mm","cpu":0,"mm":1})", R"({"op":"enter_lazy","cpu":0})",
                           R"({"op":"switch_mm","cpu":1,"mm":1})"})
    EXPECT_EQ(say(line)["violations"], Json::array());
}

TEST_F(Step, AnIdIsEchoed) {
  machine();
  EXPECT_EQ(say(R"({"op":"tick","jiffies":1,"id":"a"})")["id"], "a");
  EXPECT_FALSE(say(R"({"op":"tick","jiffies":1})").contains("id"));
}

TEST_F(Step, RefusedOperationsChangeNothing) {
  machine();
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  say(R"({"op":"offline","cpu":2})");
  const Json before = say(R"({"op":"tick","jiffies":0})");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"op":"switch_mm","cpu":2,"mm":1})", "the CPU is offline"},
      {R"({"op":"online","cpu":0})", "the CPU is online already"},
      {R"({"op":"unuse_temporary_mm","cpu":0})", "the CPU is not inside a temporary mm"},
      {R"({"op":"switch_mm","cpu":3,"mm":1})", "cpu: found 3, expected a number from 0 to 2"},
      {R"({"op":"switch_mm","cpu":0,"mm":3})", "mm: found 3, expected a number from 0 to 2"},
      {R"({"op":"switch_mm","cpu":0})", "mm: missing"},
      {R"({"op":"enter_lazy","cpu":0,"mm":1})", "unknown key 'mm'"},
      {R"({"op":"touch","cpu":0})",
       "op: found \"touch\", expected one of switch_mm, enter_lazy, flush_mm_range, "},
      {R"({"op":"new_mm"})", "op: found \"new_mm\""},
      {R"({"op":"dance"})", "op: found \"dance\""},
      {R"({"cpu":0})", "op: missing"},
      {R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":"0x0","end":"0x1","stride_shift":64})",
       "stride_shift: found 64"},
      {R"({"op":"flush_mm_range","cpu":0,"mm":1,"start":0,"end":"0x1"})", "start: found 0"},
  };
  for (const auto& [line, message] : wrong)
    EXPECT_EQ(refusal(line).find(message), 0u) << refusal(line);
  EXPECT_EQ(say(R"({"op":"tick","jiffies":0})"), before);
}

TEST_F(Step, AFlushThatWouldWaitIsRefused) {
  machine();
  say(R"({"op":"switch_mm","cpu":0,"mm":1})");
  say(R"({"op":"use_temporary_mm","cpu":1,"mm":2})");
  EXPECT_EQ(refusal(R"({"op":"flush_mm_range","cpu":0,"mm":2,"start":"0x0","end":"0x1"})")
                .find("the flush waits for a CPU inside a temporary mm"),
            0u);
  EXPECT_EQ(refusal(R"({"op":"switch_mm","cpu":1,"mm":1})").find("the CPU is inside"), 0u);
}

TEST_F(Step, MachinesThatAreRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"nr_cpus":0,"nr_mms":1,"era":"v6.4","path":"native"})", "nr_cpus: found 0"},
      {R"({"nr_cpus":1,"nr_mms":1,"era":"v6.5","path":"native"})", "era: found \"v6.5\""},
      {R"({"nr_cpus":1,"nr_mms":1,"era":"v6.4","path":"kvm"})", "path: found \"kvm\""},
      {R"({"nr_cpus":1,"nr_mms":1,"era":"v6.4","path":"native","hz":0})", "hz: found 0"},
      {R"({"nr_cpus":1,"nr_mms":1,"era":"v6.4","path":"native","hs":1})", "unknown key 'hs'"},
      {R"({"nr_cpus":1,"era":"v6.4","path":"native"})", "nr_mms: missing"},
  };
  for (const auto& [line, message] : wrong)
    EXPECT_EQ(refusal(line).find(message), 0u) << refusal(line);
  EXPECT_EQ(machine(), Json::parse(R"({"machine":"ok"})")) << "the next line is a first one again";
}

}  // namespace
}  // namespace hvtlb::cli
