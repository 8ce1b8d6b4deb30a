// The mask is passed live: before the fix every look at it is new, the fix reads it once.
#include <gtest/gtest.h>

#include "flush/flush_tlb.h"
#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::hyperv;
using test::kVa;

class LiveBuilder : public testing::Test {
 protected:
  LiveBuilder() : guest_(hyperv(5)), mem_(guest_) {
    guest_.new_mm();
    guest_.mm(1).cpumask[0] = 0b0111;
    for (CpuTlbStateShared& shared : guest_.cpu_tlbstate_shared) shared.loaded_mm = 1;
  }
  std::string send(std::string_view era) {
    FlushTlbInfo info;
    info.mm = 1;
    info.has_mm = true;
    info.start = kVa;
    info.end = kVa + kPageSize;
    Kernel<test::TracePolicy> k{guest_, test::rules_of(era), mem_};
    flush_tlb_multi(k, 0, guest_.mm(1).cpumask, info);
    return mem_.text();
  }
  u64 processor_mask() { return guest_.input_page(0)->words[2]; }

  Guest guest_;
  test::TracePolicy mem_;
};

TEST_F(LiveBuilder, BeforeTheFixTheMaskIsReadForEveryQuestionAndEveryMember) {
  EXPECT_EQ(send("v6.17.5"),
            "targets; cli; load mask1; load mask1; load mask1; load lazy0; load mask1; load lazy1; "
            "load mask1; load lazy2; load mask1; hypercall 3; sti");
}

TEST_F(LiveBuilder, TheFixReadsItOnce) {
  EXPECT_EQ(send("filtered"),
            "targets; cli; load mask1; load loaded0; load lazy0; load loaded1; load lazy1; "
            "load loaded2; load lazy2; hypercall 3; sti");
}

TEST_F(LiveBuilder, BeforeTheFixAMemberMayComeAndGoWhileTheBuilderWalks) {
  mem_.before = [this](const std::string& what) {
    if (what == "load lazy1") guest_.mm(1).cpumask[0] = 0b1011;
  };
  send("v6.17.5");
  EXPECT_EQ(processor_mask(), 0b1011u);
}

TEST_F(LiveBuilder, BeforeTheFixTheMaskMayBecomeEmpty) {
  int looks = 0;
  mem_.before = [&](const std::string& what) {
    if (what == "load mask1" && ++looks == 2) guest_.mm(1).cpumask[0] = 0;
  };
  EXPECT_EQ(send("v6.17.5"), "targets; cli; load mask1; load mask1; load mask1; sti")
      << "there is no last CPU to ask for its VP";
}

TEST_F(LiveBuilder, TheFixKeepsItsOwnCopy) {
  mem_.before = [this](const std::string& what) {
    if (what == "load lazy1") guest_.mm(1).cpumask[0] = 0b1000;
  };
  send("filtered");
  EXPECT_EQ(processor_mask(), 0b0111u);
}

TEST_F(LiveBuilder, TheNativePathReadsTheMaskAgain) {
  guest_.hypercall_page = false;
  for (const char* era : {"v6.17.5", "filtered"}) {
    mem_.steps.clear();
    EXPECT_EQ(send(era).find("targets; load mask1; load mask1; "), 0u) << era;
  }
}

}  // namespace
}  // namespace hvtlb
