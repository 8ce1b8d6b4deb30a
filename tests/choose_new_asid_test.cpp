// choose_new_asid(): which slot an mm gets, and whether it must be emptied.
#include <gtest/gtest.h>

#include "model/switch_mm.h"
#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

class ChooseNewAsid : public testing::Test {
 protected:
  ChooseNewAsid() : guest_(test::native(1)), mem_(guest_) {
    for (int i = 0; i < 8; ++i) guest_.new_mm();
  }
  NewAsid choose(MmId mm, u64 gen = 0, std::string_view era = "v6.17.5") {
    Kernel<test::TracePolicy> k{guest_, test::rules_of(era), mem_};
    return choose_new_asid(k, 0, guest_.mm(mm), gen);
  }
  CpuTlbState& tlb() { return guest_.cpu_tlbstate[0]; }
  void put(u64 asid, MmId mm, u64 gen) { tlb().ctxs[asid] = {guest_.mm(mm).ctx_id, gen}; }

  Guest guest_;
  test::TracePolicy mem_;
};

TEST_F(ChooseNewAsid, WithoutPcidItIsSlotZeroAndAFlush) {
  guest_.pcid = false;
  put(3, 1, 9);
  const NewAsid ns = choose(1, 9);
  EXPECT_EQ(ns.asid, 0u);
  EXPECT_TRUE(ns.need_flush);
  EXPECT_EQ(tlb().next_asid, 1u);
}

TEST_F(ChooseNewAsid, AKnownSlotIsFlushedOnlyWhenBehind) {
  put(4, 1, 5);
  EXPECT_EQ(choose(1, 5).asid, 4u);
  EXPECT_FALSE(choose(1, 5).need_flush);
  EXPECT_TRUE(choose(1, 6).need_flush);
  EXPECT_EQ(tlb().next_asid, 1u);
}

TEST_F(ChooseNewAsid, RoundRobinSkipsSlotZeroOnlyAtFirst) {
  std::vector<u64> order;
  for (MmId mm = 1; mm <= 7; ++mm) {
    const NewAsid ns = choose(mm);
    EXPECT_TRUE(ns.need_flush);
    order.push_back(ns.asid);
    put(ns.asid, mm, 0);
  }
  EXPECT_EQ(order, (std::vector<u64>{1, 2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(tlb().next_asid, 2u);
}

TEST_F(ChooseNewAsid, InvalidateOtherForgetsAllSlotsButTheLoadedOne) {
  tlb().loaded_mm_asid = 2;
  put(2, 1, 0);
  put(3, 2, 0);
  put(0, 3, 0);
  tlb().invalidate_other = 1;
  EXPECT_FALSE(choose(1).need_flush);
  EXPECT_EQ(tlb().invalidate_other, 0u);
  EXPECT_EQ(tlb().ctxs[3].ctx_id, 0u);
  EXPECT_EQ(tlb().ctxs[0].ctx_id, 0u);
  EXPECT_TRUE(choose(2).need_flush);
}

TEST_F(ChooseNewAsid, AGlobalAsidIsNeverFlushed) {
  guest_.invlpgb = true;
  guest_.mm(1).global_asid = 77;
  put(3, 1, 0);
  EXPECT_EQ(choose(1, 5).asid, 77u);
  EXPECT_FALSE(choose(1, 5).need_flush);
  EXPECT_EQ(choose(1, 5, "v6.14.7").asid, 3u) << "before v6.15 there are none";
  guest_.pcid = false;
  EXPECT_EQ(choose(1, 5).asid, 0u);
}

TEST_F(ChooseNewAsid, TheCr3ValueCarriesPcidAndTheNoFlushBit) {
  Kernel<test::TracePolicy> k{guest_, test::rules_of("v6.1"), mem_};
  load_new_mm_cr3(k, 0, guest_.mm(3), {5, false});
  load_new_mm_cr3(k, 0, guest_.mm(3), {5, true});
  guest_.pcid = false;
  load_new_mm_cr3(k, 0, guest_.mm(3), {0, true});
  EXPECT_EQ(mem_.text(), "cr3 0x300006 keep; cr3 0x300006 flush; cr3 0x300000 flush");
}

TEST(AsidNumbers, GlobalOnesBeginBehindTheDynamicOnes) {
  EXPECT_FALSE(is_global_asid(0));
  EXPECT_FALSE(is_global_asid(5));
  EXPECT_TRUE(is_global_asid(6));
}

}  // namespace
}  // namespace hvtlb
