// Laziness: entering it, leaving it for the same mm and for another, and leaving the mm.
#include <gtest/gtest.h>

#include "model/switch_mm.h"
#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

class Lazy : public testing::TestWithParam<const char*> {
 protected:
  Lazy() : guest_(test::native(2)), mem_(guest_), k_{guest_, test::rules_of(GetParam()), mem_} {
    guest_.new_mm();
    guest_.new_mm();
    switch_mm(k_, 0, 1);
    mem_.steps.clear();
  }
  bool repairs() const { return test::rules_of(GetParam()).same_mm_repairs_bit; }

  Guest guest_;
  test::TracePolicy mem_;
  Kernel<test::TracePolicy> k_;
};

TEST_P(Lazy, EnteringIsAPlainStoreAndTheBitStays) {
  enter_lazy_tlb(k_, 0);
  EXPECT_EQ(mem_.text(), "load loaded0; store lazy0 1");
  EXPECT_TRUE(guest_.in_cpumask(1, 0));
}

TEST_P(Lazy, EnteringOnInitMmDoesNothing) {
  enter_lazy_tlb(k_, 1);
  EXPECT_EQ(mem_.text(), "load loaded1");
  EXPECT_EQ(guest_.cpu_tlbstate_shared[1].is_lazy, 0u);
}

TEST_P(Lazy, LeavingForTheSameMmFencesBeforeTheGenerationIsRead) {
  enter_lazy_tlb(k_, 0);
  mem_.steps.clear();
  switch_mm(k_, 0, 1);
  EXPECT_EQ(mem_.text(), std::string("cli; load loaded0; load lazy0; store lazy0 0; ") +
                             (repairs() ? "load mask1; " : "") + "fence; load gen1; sti");
}

TEST_P(Lazy, LeavingForTheSameMmFlushesWhatItMissed) {
  enter_lazy_tlb(k_, 0);
  guest_.mm(1).tlb_gen = 3;
  mem_.steps.clear();
  switch_mm(k_, 0, 1);
  EXPECT_NE(mem_.text().find("cr3 0x100002 flush"), std::string::npos);
  EXPECT_EQ(guest_.cpu_tlbstate[0].ctxs[1].tlb_gen, 3u);
  EXPECT_EQ(guest_.cpu_tlbstate[0].loaded_mm_asid, 1u) << "the same ASID";
  EXPECT_EQ(guest_.cpu_tlbstate_shared[0].loaded_mm, 1u);
}

TEST_P(Lazy, SwitchingToTheLoadedMmWithoutLazinessKeepsEverything) {
  guest_.mm(1).tlb_gen = 3;
  switch_mm(k_, 0, 1);
  EXPECT_EQ(mem_.text().find("cr3"), std::string::npos);
  EXPECT_EQ(mem_.text().find("gen1"), std::string::npos) << "a busy CPU gets its IPIs";
}

TEST_P(Lazy, LeavingForAnotherMmIsAnOrdinarySwitch) {
  enter_lazy_tlb(k_, 0);
  mem_.steps.clear();
  switch_mm(k_, 0, 2);
  EXPECT_EQ(mem_.text().find("cli; load loaded0; load lazy0; store lazy0 0; "), 0u);
  EXPECT_EQ(guest_.cpu_tlbstate_shared[0].loaded_mm, 2u);
  EXPECT_EQ(guest_.cpu_tlbstate_shared[0].is_lazy, 0u);
  EXPECT_TRUE(guest_.in_cpumask(2, 0));
}

TEST_P(Lazy, LeaveMmGoesToInitMmOnce) {
  enter_lazy_tlb(k_, 0);
  leave_mm(k_, 0);
  EXPECT_EQ(guest_.cpu_tlbstate_shared[0].loaded_mm, kInitMm);
  EXPECT_EQ(guest_.cpu_tlbstate_shared[0].is_lazy, 0u);
  EXPECT_EQ(guest_.cpu_tlbstate[0].loaded_mm_asid, 0u);
  mem_.steps.clear();
  leave_mm(k_, 0);
  EXPECT_EQ(mem_.text(), "load loaded0");
}

INSTANTIATE_TEST_SUITE_P(Eras, Lazy, testing::Values("v6.1", "v6.12.117", "v6.14", "v6.17.5"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace hvtlb
