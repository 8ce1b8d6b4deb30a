// flush_tlb_mm_range(): the ceiling, the generation, the local fast path, the trim question.
#include <gtest/gtest.h>

#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::Box;
using test::kVa;
using test::native;

class FlushMmRange : public testing::Test {
 protected:
  FlushMmRange() : guest_(native(3)), mem_(guest_) {
    guest_.new_mm();
    guest_.new_mm();
    guest_.cpu_tlbstate[0].ctxs[1] = {2, 0};
    guest_.cpu_tlbstate[0].loaded_mm_asid = 1;
    guest_.cpu_tlbstate_shared[0].loaded_mm = 1;
    guest_.mm(1).cpumask[0] = 1;
  }
  std::string flush(std::string_view era, u64 start, u64 end, u8 stride_shift = 12,
                    bool freed_tables = false) {
    mem_.steps.clear();
    Kernel<test::TracePolicy> k{guest_, test::rules_of(era), mem_};
    flush_tlb_mm_range(k, 0, 1, start, end, stride_shift, freed_tables);
    return mem_.text();
  }
  std::size_t nr_invlpg() const {
    std::size_t n = 0;
    for (const std::string& step : mem_.steps) n += step.starts_with("invlpg") ? 1 : 0;
    return n;
  }

  Guest guest_;
  test::TracePolicy mem_;
};

TEST_F(FlushMmRange, LocalWhenNobodyElseIsInTheMask) {
  EXPECT_EQ(flush("v6.1", kVa, kVa + kPageSize),
            "locked add gen1; requested; load mask1; targets; load loaded0; cli; local; "
            "load loaded0; load lazy0; load gen1; invlpg 0x7f0000000000/12; sti; returned");
  EXPECT_EQ(guest_.mm(1).tlb_gen, 1u);
  EXPECT_EQ(guest_.cpu_tlbstate[0].ctxs[1].tlb_gen, 1u);
}

TEST_F(FlushMmRange, NothingWhenThisCpuHasAnotherMmLoaded) {
  guest_.cpu_tlbstate_shared[0].loaded_mm = 2;
  EXPECT_EQ(flush("v6.1", kVa, kVa + kPageSize),
            "locked add gen1; requested; load mask1; targets; load loaded0; returned");
}

TEST_F(FlushMmRange, TheGenerationIsMadeBeforeTheMaskIsLookedAt) {
  for (const Era& era : eras()) {
    guest_.mm(1).cpumask[0] = 3;
    const std::string steps = flush(era.name, kVa, kVa + kPageSize);
    EXPECT_LT(steps.find("locked add gen1"), steps.find("load mask1")) << era.name;
  }
}

TEST_F(FlushMmRange, MoreThan33StridesBecomeAFullFlush) {
  flush("v6.17.5", kVa, kVa + 33 * kPageSize);
  EXPECT_EQ(nr_invlpg(), 33u);
  EXPECT_NE(flush("v6.17.5", kVa, kVa + 34 * kPageSize).find("cr3"), std::string::npos);
  EXPECT_EQ(nr_invlpg(), 0u);
  flush("v6.17.5", kVa, kVa + 33 * kPageSize + 1);
  EXPECT_EQ(nr_invlpg(), 34u) << "the quotient is rounded down";
}

TEST_F(FlushMmRange, TheCeilingCountsStridesNotBytes) {
  flush("v6.17.5", kVa, kVa + (u64{33} << 21), 21);
  EXPECT_EQ(nr_invlpg(), 33u);
  flush("v6.17.5", kVa, kVa + (u64{34} << 21), 21);
  EXPECT_EQ(nr_invlpg(), 0u);
  flush("v6.17.5", 0, kTlbFlushAll, 0);
  EXPECT_EQ(nr_invlpg(), 0u) << "fork: 0..~0, stride 0";
  flush("v6.17.5", kVa, kVa - kPageSize);
  EXPECT_EQ(nr_invlpg(), 0u) << "reversed: looks huge";
}

TEST_F(FlushMmRange, TheTrimQuestionIsAskedOnTheMultiCpuPathOnly) {
  for (const Era& era : eras()) {
    guest_.jiffies = guest_.mm(1).next_trim_cpumask + 1;
    const u64 before = guest_.mm(1).next_trim_cpumask;
    guest_.mm(1).cpumask[0] = 1;
    flush(era.name, kVa, kVa + kPageSize);
    EXPECT_EQ(guest_.mm(1).next_trim_cpumask, before) << era.name;
    guest_.mm(1).cpumask[0] = 3;
    flush(era.name, kVa, kVa + kPageSize);
    EXPECT_EQ(guest_.mm(1).next_trim_cpumask,
              era.rules.sender_asks_trim ? guest_.jiffies + guest_.hz : before)
        << era.name;
  }
}

TEST_F(FlushMmRange, TheMaskIsReadAgainAfterTheTest) {
  guest_.mm(1).cpumask[0] = 3;
  guest_.cpu_tlbstate_shared[2].loaded_mm = 1;
  mem_.before = [this](const std::string& what) {
    if (what == "load loaded1") guest_.mm(1).cpumask[0] |= 4;
  };
  const std::string steps = flush("v6.17.5", kVa, kVa + kPageSize);
  EXPECT_NE(steps.find("load mask1; load mask1"), std::string::npos) << "live: " << steps;
}

TEST(FlushMmRangeBox, ATrimRoundReachesStaleCpusAndClearsTheirBits) {
  for (const Era& era : eras()) {
    if (era.rules.prev_bit == PrevBit::kCleared) continue;
    Box box(era.name, native(4));
    const MmId mm = box.mm();
    for (Cpu cpu = 0; cpu < 4; ++cpu) box.run(cpu, mm);
    box.leave(1);
    box.lazy(2);
    box.leave(3);
    box.offline(3);
    box.flush(0, mm);
    EXPECT_EQ(box.sent(), 0b0001u) << era.name;
    EXPECT_FALSE(box.last().request.trim_cpumask);
    box.tick(250);
    box.flush(0, mm);
    EXPECT_FALSE(box.last().request.trim_cpumask) << "not before jiffies is strictly after";
    box.tick(1);
    box.flush(0, mm);
    EXPECT_TRUE(box.last().request.trim_cpumask);
    EXPECT_EQ(box.sent(), 0b0011u) << era.name;
    EXPECT_EQ(box.mask(mm), 0b1101u) << "lazy and offline members keep their bits: " << era.name;
    EXPECT_EQ(box.violated(), "");
  }
}

TEST(FlushMmRangeBox, AForeignInitiatorFlushesTheOthers) {
  for (const Era& era : eras()) {
    Box box(era.name, native(3));
    const MmId mm = box.mm();
    box.run(1, mm);
    box.flush(0, mm);
    EXPECT_EQ(box.sent(), 0b010u) << era.name;
    EXPECT_EQ(box.last().outcome, Outcome::kNative);
    EXPECT_EQ(box.slot_gen(1), 1u);
    EXPECT_EQ(box.violated(), "");
  }
}

}  // namespace
}  // namespace hvtlb
