// switch_mm_irqs_off(): the steps of every era in the kernel's order, to the last fence.
#include "model/switch_mm.h"

#include <gtest/gtest.h>

#include "model/eras.h"
#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::rules_of;

/// One CPU, two mms; CPU 0 runs mm 1 when `from` says so, then switches to `to`.
class SwitchMm : public testing::Test {
 protected:
  SwitchMm() : guest_(test::native(2)) {
    guest_.new_mm();
    guest_.new_mm();
  }

  std::string switch_to(std::string_view era, MmId to) {
    test::TracePolicy mem(guest_);
    Kernel<test::TracePolicy> k{guest_, rules_of(era), mem};
    switch_mm(k, 0, to);
    return mem.text();
  }

  Guest guest_;
};

TEST_F(SwitchMm, EagerEraWithTheLateMarker) {
  for (const char* era : {"v6.1", "v6.4", "v6.1.129", "v6.12.29"}) {
    SetUp();
    Guest fresh(test::native(2));
    guest_ = fresh;
    guest_.new_mm();
    guest_.new_mm();
    EXPECT_EQ(switch_to(era, 1),
              "cli; load loaded0; load lazy0; locked or mask1; load gen1; store loaded0 SWITCHING; "
              "cr3 0x100002 flush; store loaded0 1; sti")
        << era;
    EXPECT_EQ(switch_to(era, 2),
              "cli; load loaded0; load lazy0; locked and mask1; locked or mask2; load gen2; "
              "store loaded0 SWITCHING; cr3 0x200003 flush; store loaded0 2; sti")
        << era;
    EXPECT_EQ(switch_to(era, 0),
              "cli; load loaded0; load lazy0; locked and mask2; load gen0; "
              "store loaded0 SWITCHING; cr3 0x1001 keep; store loaded0 0; sti")
        << era;
  }
}

TEST_F(SwitchMm, EagerEraWithTheEarlyMarker) {
  for (const char* era : {"v6.12.117", "v6.1.192"}) {
    guest_ = Guest(test::native(2));
    guest_.new_mm();
    guest_.new_mm();
    switch_to(era, 1);
    EXPECT_EQ(switch_to(era, 2),
              "cli; load loaded0; load lazy0; store loaded0 SWITCHING; locked and mask1; "
              "locked or mask2; load gen2; cr3 0x200003 flush; store loaded0 2; sti")
        << era;
  }
}

TEST_F(SwitchMm, LazyBitEraWithTheLateMarker) {
  for (const char* era : {"v6.14", "v6.14.7"}) {
    guest_ = Guest(test::native(2));
    guest_.new_mm();
    guest_.new_mm();
    switch_to(era, 1);
    EXPECT_EQ(switch_to(era, 2),
              "cli; load loaded0; load lazy0; load mask2; locked or mask2; load gen2; "
              "store loaded0 SWITCHING; cr3 0x200003 flush; store loaded0 2; sti")
        << era;
    EXPECT_TRUE(guest_.in_cpumask(1, 0)) << "the bit stays behind";
    EXPECT_EQ(switch_to(era, 1),
              "cli; load loaded0; load lazy0; load mask1; load gen1; "
              "store loaded0 SWITCHING; cr3 0x100002 keep; store loaded0 1; sti")
        << era << ": no fence, the bit was set";
  }
}

TEST_F(SwitchMm, V6_15HasTheEarlyMarkerAndNoFenceWhenTheBitIsSet) {
  switch_to("v6.15", 1);
  switch_to("v6.15", 2);
  EXPECT_EQ(switch_to("v6.15", 1),
            "cli; load loaded0; load lazy0; store loaded0 SWITCHING; load mask1; load gen1; "
            "cr3 0x100002 keep; store loaded0 1; sti");
}

TEST_F(SwitchMm, V6_17_5FencesWhetherOrNotTheBitIsSet) {
  for (const char* era : {"v6.17.5", "filtered"}) {
    guest_ = Guest(test::native(2));
    guest_.new_mm();
    guest_.new_mm();
    EXPECT_EQ(switch_to(era, 1),
              "cli; load loaded0; load lazy0; store loaded0 SWITCHING; load mask1; "
              "locked or mask1; load gen1; cr3 0x100002 flush; "
              "store loaded0 1; sti");
    switch_to(era, 2);
    EXPECT_EQ(switch_to(era, 1),
              "cli; load loaded0; load lazy0; store loaded0 SWITCHING; load mask1; fence; "
              "load gen1; cr3 0x100002 keep; store loaded0 1; sti");
    EXPECT_EQ(switch_to(era, 0),
              "cli; load loaded0; load lazy0; store loaded0 SWITCHING; fence; load gen0; "
              "cr3 0x1001 keep; store loaded0 0; sti")
        << "init_mm has no bits";
  }
}

TEST_F(SwitchMm, InitMmNeverHasBits) {
  for (const Era& era : eras()) {
    switch_to(era.name, 1);
    switch_to(era.name, 0);
    EXPECT_EQ(guest_.mm(kInitMm).cpumask[0], 0u) << era.name;
  }
}

TEST_F(SwitchMm, EagerErasRepairAMissingBitOnASwitchToTheLoadedMm) {
  for (const Era& era : eras()) {
    guest_ = Guest(test::native(2));
    guest_.new_mm();
    guest_.new_mm();
    switch_to(era.name, 1);
    guest_.mm(1).cpumask[0] = 0;
    switch_to(era.name, 1);
    EXPECT_EQ(guest_.in_cpumask(1, 0), era.rules.prev_bit == PrevBit::kCleared) << era.name;
  }
}

TEST_F(SwitchMm, AStaleSlotIsFlushedAndRemembersTheGenerationRead) {
  switch_to("v6.17.5", 1);
  EXPECT_EQ(guest_.cpu_tlbstate[0].ctxs[1].tlb_gen, 0u);
  switch_to("v6.17.5", 2);
  guest_.mm(1).tlb_gen = 4;
  EXPECT_NE(switch_to("v6.17.5", 1).find("cr3 0x100002 flush"), std::string::npos);
  EXPECT_EQ(guest_.cpu_tlbstate[0].ctxs[1].tlb_gen, 4u);
  EXPECT_EQ(guest_.cpu_tlbstate[0].loaded_mm_asid, 1u);
}

}  // namespace
}  // namespace hvtlb
