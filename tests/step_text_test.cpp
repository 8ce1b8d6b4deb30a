// A step as a line of text: every form is read, printed and read again; what is wrong is named with
// its column.
#include "scenario/step_text.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

constexpr Mark kAt{7, 3};

std::string refusal(std::string_view text) {
  try {
    parse_step(text, kAt);
  } catch (const StepTextError& error) {
    return std::to_string(error.at.column) + ": " + error.what;
  }
  return "accepted";
}

TEST(StepText, EveryStepPrintsAsItIsRead) {
  for (const char* text : {"run A on 3",
                           "idle on 0",
                           "leave_mm on 2",
                           "touch",
                           "touch A on 1",
                           "mprotect A 1 page",
                           "madvise A 3 pages at 0x7f0000001000 on 2",
                           "munmap A 512 pages freeing tables",
                           "munmap A 2 pages",
                           "mremap A 1 page",
                           "flush A 0x1000 0x3000 stride 12",
                           "flush A 0x0 0xffffffffffffffff stride 0 freed_tables on 1",
                           "fork A as B",
                           "exec A",
                           "exit A",
                           "batch_add A at 0x4000",
                           "batch_flush on 1",
                           "tick 250",
                           "offline 3",
                           "online 3",
                           "use_temporary_mm T on 1",
                           "unuse_temporary_mm on 1"})
    EXPECT_EQ(step_text(parse_step(text, kAt)), text);
}

TEST(StepText, EveryLoopHeadPrintsAsItIsRead) {
  for (const char* text :
       {"each cpu", "each cpu but 0", "each cpu of 1-3,7", "repeat 10", "measure 1000"})
    EXPECT_EQ(step_text(parse_loop_head(text, kAt)), text);
}

TEST(StepText, RefusalsNameTheColumnAndWhatWasFound) {
  EXPECT_EQ(refusal("mprotect A -3 pages"), "14: found '-3', expected a number of pages");
  EXPECT_EQ(refusal("mprotect A 1 pge"), "16: found 'pge', expected 'pages'");
  EXPECT_EQ(refusal("mprotect A"), "13: found the end, expected a number of pages");
  EXPECT_EQ(refusal("run 7"), "7: found '7', expected a process's name");
  EXPECT_EQ(refusal("run A on 4096"), "12: found 4096, expected a CPU of at most 4095");
  EXPECT_EQ(refusal("run A at 0x1"), "9: found 'at', expected 'on CPU' or the end");
  EXPECT_EQ(refusal("tick 99999999999"),
            "8: found 99999999999, expected a number of jiffies of at most 1000000000");
  EXPECT_EQ(refusal("tick 99999999999999999999999"),
            "8: found 99999999999999999999999, expected a number of jiffies of at most 1000000000");
  EXPECT_EQ(refusal("mprotct A 1 page").substr(0, 28), "3: found 'mprotct', expected");
  EXPECT_EQ(refusal("").substr(0, 28), "3: found the end, expected a");
}

TEST(StepText, PagesAreAtLeastOneAndEndBelowTheTop) {
  EXPECT_EQ(refusal("mprotect A 0 pages"), "14: found 0, expected at least 1 page");
  EXPECT_EQ(refusal("mprotect A 5 pages at 0xffffffffffffe000"),
            "25: found 5 pages at 0xffffffffffffe000, expected a range that ends below 2^64");
  EXPECT_EQ(refusal("madvise A 2 pages at 0xffffffffffffe000").substr(0, 2), "24");
  EXPECT_EQ(refusal("batch_add A at 0xfffffffffffff000").substr(0, 32),
            "18: found 1 page at 0xffffffffff");
  EXPECT_EQ(refusal("munmap A 1 page at 0xffffffffffffe000"), "accepted");
  EXPECT_EQ(refusal("flush A 0xfffffffffffff000 0x0"), "accepted") << "flush is raw";
}

TEST(StepText, BatchAddHappensOnNoCpu) {
  EXPECT_EQ(refusal("batch_add A on 3"), "15: found 'on', expected 'at ADDRESS' or the end");
  EXPECT_EQ(refusal("batch_add A at 0x1000 on 3").substr(0, 15), "25: found 'on',");
}

TEST(StepText, MunmapSaysFreeingTables) {
  EXPECT_EQ(refusal("munmap A 1 page freed_tables"),
            "19: found 'freed_tables', expected 'freeing tables'");
}

TEST(StepText, RepeatsAreBounded) {
  EXPECT_THROW(parse_loop_head("repeat 1000001", kAt), StepTextError);
  EXPECT_THROW(parse_loop_head("repeat -1", kAt), StepTextError);
  EXPECT_THROW(parse_loop_head("repeat", kAt), StepTextError);
  EXPECT_THROW(parse_loop_head("each cpu but", kAt), StepTextError);
  EXPECT_THROW(parse_loop_head("each core", kAt), StepTextError);
}

TEST(StepText, CpuListsAscend) {
  EXPECT_EQ(parse_cpu_list("0,2-4", kAt), (std::vector<std::pair<Cpu, Cpu>>{{0, 0}, {2, 4}}));
  for (const char* text : {"", "4-2", "1,,2", "a", "1-", "5000"})
    EXPECT_THROW(parse_cpu_list(text, kAt), StepTextError) << text;
}

}  // namespace
}  // namespace hvtlb
