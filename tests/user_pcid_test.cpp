// Page-table isolation: the CR3 of user mode, bit by bit, and which PCIDs are flushed on the way.
#include "model/user_pcid.h"

#include <gtest/gtest.h>

#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

class UserPcid : public testing::Test {
 protected:
  UserPcid() : guest(shape()), policy(guest) {
    mm.pgd = 0x5000000;
    guest.cpu_tlbstate[0].loaded_mm_asid = 3;
  }
  static MachineShape shape() {
    MachineShape s = test::native(1);
    s.pti = true;
    return s;
  }
  std::string to_user() {
    policy.steps.clear();
    switch_to_user_cr3(k, 0, mm);
    return policy.text();
  }
  std::string to_kernel() {
    policy.steps.clear();
    switch_to_kernel_cr3(k, 0, mm);
    return policy.text();
  }

  Guest guest;
  test::TracePolicy policy;
  Rules rules;
  Kernel<test::TracePolicy> k{guest, rules, policy};
  Mm mm;
};

TEST_F(UserPcid, UserModeHasTheNextPageTableAndThePcidWithBit11) {
  EXPECT_EQ(to_user(), "cr3 0x5001804 keep");
  EXPECT_EQ(to_kernel(), "cr3 0x5000004 keep");
}

TEST_F(UserPcid, AFlushedPcidIsFlushedOnceOnTheWayToUserMode) {
  invalidate_user_asid(k, 0, 3);
  EXPECT_EQ(guest.cpu_tlbstate[0].user_pcid_flush_mask, 1u << 4);
  invalidate_user_asid(k, 0, 1);
  EXPECT_EQ(to_user(), "cr3 0x5001804 flush");
  EXPECT_EQ(guest.cpu_tlbstate[0].user_pcid_flush_mask, 1u << 2) << "the other one waits";
  EXPECT_EQ(to_user(), "cr3 0x5001804 keep");
}

TEST_F(UserPcid, TheMmsLamBitsAreInBoth) {
  mm.lam_cr3_mask = u64{1} << 61;
  EXPECT_EQ(to_user(), "cr3 0x2000000005001804 keep");
  EXPECT_EQ(to_kernel(), "cr3 0x2000000005000004 keep");
}

TEST_F(UserPcid, WithoutPcidsEveryWayFlushes) {
  guest.pcid = false;
  invalidate_user_asid(k, 0, 3);
  EXPECT_EQ(guest.cpu_tlbstate[0].user_pcid_flush_mask, 0u);
  EXPECT_EQ(to_user(), "cr3 0x5001000 flush");
  EXPECT_EQ(to_kernel(), "cr3 0x5000000 flush");
}

TEST_F(UserPcid, WithoutIsolationNothingIsRemembered) {
  guest.pti = false;
  invalidate_user_asid(k, 0, 3);
  EXPECT_EQ(guest.cpu_tlbstate[0].user_pcid_flush_mask, 0u);
}

}  // namespace
}  // namespace hvtlb
