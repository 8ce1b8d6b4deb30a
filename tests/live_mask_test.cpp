// A mask that other CPUs change while it is read: every look is a load of the word as it is now.
#include "model/live_mask.h"

#include <gtest/gtest.h>

#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

class LiveMask : public testing::Test {
 protected:
  LiveMask() : guest_(shape()), mem_(guest_) { guest_.new_mm(); }
  static MachineShape shape() {
    MachineShape shape;
    shape.nr_cpus = 130;
    return shape;
  }
  std::vector<u64>& mask() { return guest_.mm(1).cpumask; }
  std::vector<Cpu> walk() {
    std::vector<Cpu> seen;
    for_each_cpu(mem_, 0, mask(), [&](Cpu cpu) {
      seen.push_back(cpu);
      if (visit_) visit_(cpu);
      return cpu != stop_at_;
    });
    return seen;
  }

  Guest guest_;
  test::TracePolicy mem_;
  std::function<void(Cpu)> visit_;
  Cpu stop_at_ = kMaxCpus;
};

TEST_F(LiveMask, WalksAcrossWordBorders) {
  mask() = {u64{1} << 63 | 1, 1, 2};
  EXPECT_EQ(walk(), (std::vector<Cpu>{0, 63, 64, 129}));
}

TEST_F(LiveMask, AMemberThatLeavesBeforeItsTurnIsNotVisited) {
  mask() = {0b1011, 0, 0};
  visit_ = [this](Cpu cpu) {
    if (cpu == 0) mask()[0] &= ~u64{0b10};
  };
  EXPECT_EQ(walk(), (std::vector<Cpu>{0, 3}));
}

TEST_F(LiveMask, AMemberThatComesLateIsVisitedOnlyAhead) {
  mask() = {0b100, 0, 0};
  visit_ = [this](Cpu cpu) {
    if (cpu == 2) mask() = {0b1111, 1, 0};
  };
  EXPECT_EQ(walk(), (std::vector<Cpu>{2, 3, 64}));
}

TEST_F(LiveMask, AVisitorStopsTheWalk) {
  mask() = {0b111, 0, 0};
  stop_at_ = 1;
  EXPECT_EQ(walk(), (std::vector<Cpu>{0, 1}));
}

TEST_F(LiveMask, LastOfAnEmptyMaskIsNoCpu) {
  EXPECT_EQ(cpumask_last(mem_, 0, mask(), 130), 130u);
  mask() = {1, 0, 2};
  EXPECT_EQ(cpumask_last(mem_, 0, mask(), 130), 129u);
  mask() = {u64{1} << 63, 0, 0};
  EXPECT_EQ(cpumask_last(mem_, 0, mask(), 130), 63u);
}

TEST_F(LiveMask, AnyButOneLooksAtEveryWord) {
  EXPECT_FALSE(cpumask_any_but(mem_, 0, mask(), 64));
  mask() = {0, 1, 0};
  EXPECT_FALSE(cpumask_any_but(mem_, 0, mask(), 64));
  EXPECT_TRUE(cpumask_any_but(mem_, 0, mask(), 0));
  EXPECT_TRUE(cpumask_any_but(mem_, 0, mask(), 65));
  mask() = {0, 1, 1};
  EXPECT_TRUE(cpumask_any_but(mem_, 0, mask(), 64));
}

TEST_F(LiveMask, BitsAreSetAndClearedWithLockedOperations) {
  cpumask_set_cpu(mem_, 70, 70, mask());
  EXPECT_EQ(mask()[1], u64{1} << 6);
  EXPECT_TRUE(cpumask_test_cpu(mem_, 0, 70, mask()));
  EXPECT_FALSE(cpumask_test_cpu(mem_, 0, 6, mask()));
  cpumask_clear_cpu(mem_, 70, 70, mask());
  EXPECT_EQ(mask()[1], 0u);
  EXPECT_EQ(mem_.text(), "locked or mask1; load mask1; load mask1; locked and mask1");
}

TEST_F(LiveMask, EqualComparesEveryWord) {
  mask() = {1, 2, 3};
  EXPECT_TRUE(cpumask_equal(mem_, 0, mask(), std::vector<u64>{1, 2, 3}));
  EXPECT_FALSE(cpumask_equal(mem_, 0, mask(), std::vector<u64>{1, 2, 1}));
  EXPECT_FALSE(cpumask_equal(mem_, 0, mask(), std::vector<u64>{0, 2, 3}));
}

}  // namespace
}  // namespace hvtlb
