// Mms that move to a global ASID (v6.15 and later): the branches of switch, handler, predicate and
// builder, the broadcast, and the end of the transition.
#include <gtest/gtest.h>

#include "tests/sender.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::hyperv;
using test::native;
using test::rules_of;
using test::Sender;
using test::with_invlpgb;

constexpr u64 kGlobal = 40;

class GlobalAsid : public testing::Test {
 protected:
  GlobalAsid()
      : guest_(with_invlpgb(native(2))), mem_(guest_), k_{guest_, rules_of("v6.17.5"), mem_} {
    guest_.new_mm();
    switch_mm(k_, 0, 1);
    guest_.mm(1).global_asid = kGlobal;
    mem_.steps.clear();
  }
  std::string handle(u64 gen) {
    FlushTlbInfo info;
    info.mm = 1;
    info.has_mm = true;
    info.new_tlb_gen = gen;
    info.initiating_cpu = 1;
    mem_.steps.clear();
    ++guest_.cpu_tlbstate[0].irqs_off;
    flush_tlb_func(k_, 0, info);
    --guest_.cpu_tlbstate[0].irqs_off;
    return mem_.text();
  }

  Guest guest_;
  test::TracePolicy mem_;
  Kernel<test::TracePolicy> k_;
};

TEST_F(GlobalAsid, TheHandlerMovesTheCpuOver) {
  guest_.mm(1).tlb_gen = 1;
  EXPECT_NE(handle(1).find("cr3 0x100029 keep"), std::string::npos);
  EXPECT_EQ(guest_.cpu_tlbstate[0].loaded_mm_asid, kGlobal);
  EXPECT_EQ(guest_.cpu_tlbstate[0].ctxs[1].tlb_gen, 0u) << "no slot is touched";
  EXPECT_EQ(handle(1), "load loaded0; load global_asid1") << "then it returns at once";
}

TEST_F(GlobalAsid, SwitchingToTheSameMmMovesTheCpuOverBeforeTheGenerationTest) {
  switch_mm(k_, 0, 1);
  EXPECT_EQ(mem_.text(),
            "cli; load loaded0; load lazy0; load global_asid1; load gen1; load global_asid1; "
            "cr3 0x100029 keep; store loaded0 1; store asid0 40; sti");
  mem_.steps.clear();
  guest_.mm(1).tlb_gen = 9;
  guest_.cpu_tlbstate_shared[0].is_lazy = 1;
  switch_mm(k_, 0, 1);
  EXPECT_EQ(mem_.text(), "cli; load loaded0; load lazy0; store lazy0 0; load global_asid1; sti")
      << "on a global ASID a switch never flushes";
}

TEST_F(GlobalAsid, SwitchingFromElsewhereTakesItWithoutAFlush) {
  guest_.mm(1).tlb_gen = 9;
  switch_mm(k_, 1, 1);
  EXPECT_NE(mem_.text().find("cr3 0x100029 keep"), std::string::npos);
  EXPECT_EQ(guest_.cpu_tlbstate[1].loaded_mm_asid, kGlobal);
}

TEST_F(GlobalAsid, OlderErasKnowNothingOfIt) {
  for (const Era& era : eras()) {
    Sender sender(era.name, with_invlpgb(native(4)));
    sender.members({0, 1, 2, 3}).lazy({2}).loaded({3}, sender.other);
    sender.guest.mm(sender.target).asid_transition = 1;
    sender.send();
    const bool knows = era.rules.global_asid;
    EXPECT_EQ(knows, era.name == "v6.15" || era.name == "v6.17.5" || era.name == "filtered");
    const u64 by_predicate = era.rules.predicate_loaded_mm ? 0b0011u : 0b1011u;
    EXPECT_EQ(sender.native_targets(), knows ? 0b1111u : by_predicate) << era.name;
  }
}

TEST_F(GlobalAsid, ATransitionSendsTheFixNative) {
  Sender sender("filtered", with_invlpgb(hyperv(4)));
  sender.members({0, 1, 2}).lazy({2});
  sender.guest.mm(sender.target).asid_transition = 1;
  sender.send();
  EXPECT_TRUE(sender.native());
  EXPECT_FALSE(sender.policy.called);
  EXPECT_EQ(sender.native_targets(), 0b111u);
  EXPECT_FALSE(sender.policy.native_trim);
}

TEST_F(GlobalAsid, TheOldBuilderIgnoresATransition) {
  Sender sender("v6.17.5", with_invlpgb(hyperv(4)));
  sender.members({0, 1, 2}).lazy({2});
  sender.guest.mm(sender.target).asid_transition = 1;
  sender.send();
  EXPECT_TRUE(sender.hypercall());
  EXPECT_EQ(sender.processor_mask(), 0b011u);
}

TEST_F(GlobalAsid, ABatchHasNoMmAndThereforeNoTransition) {
  Sender sender("filtered", with_invlpgb(hyperv(4)));
  sender.members({0, 1});
  sender.guest.mm(sender.target).asid_transition = 1;
  sender.info.has_mm = false;
  sender.send();
  EXPECT_TRUE(sender.hypercall());
}

TEST_F(GlobalAsid, InTransitionTheSenderNeitherTrimsNorFlushesLocally) {
  guest_.mm(1).asid_transition = 1;
  guest_.jiffies += 10 * guest_.hz;
  guest_.mm(1).cpumask[0] = 3;
  flush_tlb_mm_range(k_, 1, 1, test::kVa, test::kVa + kPageSize, kPageShift, false);
  EXPECT_EQ(mem_.text().find("store next_trim1"), std::string::npos);
  EXPECT_NE(mem_.text().find("ipi 0x3"), std::string::npos);
  guest_.mm(1).cpumask[0] = 1;
  mem_.steps.clear();
  flush_tlb_mm_range(k_, 0, 1, test::kVa, test::kVa + kPageSize, kPageShift, false);
  EXPECT_EQ(mem_.text().find("local"), std::string::npos);
  EXPECT_EQ(mem_.text().find("ipi"), std::string::npos) << "nobody is left behind";
  EXPECT_NE(mem_.text().find("store transition1 0; tlbsync"), std::string::npos);
}

TEST_F(GlobalAsid, IsPublishedBehindTheTransitionUnderALock) {
  guest_.mm(1).global_asid = 0;
  use_global_asid(k_, 0, 1);
  EXPECT_EQ(mem_.text(),
            "cli; cmpxchg private 0 1; load private; load global_asid1; store private 7; "
            "store transition1 1; store global_asid1 7; store private 0; sti");
  mem_.steps.clear();
  use_global_asid(k_, 1, 1);
  EXPECT_EQ(guest_.mm(1).global_asid, 7u) << "once";
  guest_.last_global_asid = kMaxGlobalAsid - 1;
  guest_.new_mm();
  guest_.new_mm();
  use_global_asid(k_, 0, 2);
  EXPECT_EQ(guest_.mm(2).global_asid, kMaxGlobalAsid) << "the last one";
  use_global_asid(k_, 0, 3);
  EXPECT_EQ(guest_.mm(3).global_asid, 0u) << "none is left";
  EXPECT_EQ(guest_.global_asid_lock, 0u);
}

TEST_F(GlobalAsid, AFlushBroadcastsAndScansBeforeItWaits) {
  guest_.mm(1).asid_transition = 1;
  guest_.cpu_tlbstate[0].seen_asid = kGlobal;
  flush_tlb_mm_range(k_, 1, 1, test::kVa, test::kVa + kPageSize, kPageShift, false);
  EXPECT_EQ(mem_.text(),
            "locked add gen1; requested; load global_asid1; load global_asid1; "
            "invlpgb 0x29 0x7f0000000000-0x7f0000001000; load global_asid1; load transition1; "
            "load mask1; wait while loaded0 is SWITCHING; load loaded0; load asid0; load mask1; "
            "store transition1 0; tlbsync; returned");
}

TEST_F(GlobalAsid, WithPageTableIsolationTheUserHalfGoesToo) {
  guest_.pti = true;
  flush_tlb_mm_range(k_, 1, 1, test::kVa, test::kVa + kPageSize, kPageShift, false);
  EXPECT_NE(mem_.text().find("invlpgb 0x29 "), std::string::npos);
  EXPECT_NE(mem_.text().find("invlpgb 0x829 "), std::string::npos);
}

TEST_F(GlobalAsid, ABatchBroadcastsForEveryPcid) {
  TlbBatch batch;
  FlushTlbInfo info;
  set_tlb_ubc_flush_pending(k_, 0, batch, 1, info);
  mem_.steps.clear();
  arch_tlbbatch_flush(k_, 0, batch);
  EXPECT_EQ(mem_.text(), "invlpgb every pcid; tlbsync; returned");
}

TEST(GlobalAsidInSequence, TheFirstFlushMovesEverybodyAndEndsLaziness) {
  for (const std::string_view era : {"v6.15", "v6.17.5", "filtered"})
    for (const bool lazy_first : {false, true}) {
      Rules rules = rules_of(era);
      rules.handler_lazy_first = lazy_first;
      test::Box box(rules, with_invlpgb(native(3)));
      const MmId a = box.mm();
      for (Cpu cpu : {0u, 1u, 2u}) box.run(cpu, a);
      box.lazy(2);
      EXPECT_EQ(box.machine.apply({.kind = OpKind::kUseGlobalAsid, .cpu = 0, .mm = a}),
                OpError::kNone);
      Guest& guest = box.machine.guest();
      box.flush(0, 1);
      EXPECT_EQ(guest.cpu_tlbstate[0].loaded_mm_asid, 7u);
      EXPECT_EQ(guest.cpu_tlbstate[1].loaded_mm_asid, 7u);
      EXPECT_EQ(guest.cpu_tlbstate_shared[2].loaded_mm, lazy_first ? kInitMm : 1u);
      EXPECT_EQ(box.violated(), lazy_first ? "" : "lazy") << "zoo Z25a, " << era;
      EXPECT_EQ(guest.mm(1).asid_transition, 1u);
      box.flush(1, 1);
      EXPECT_EQ(guest.mm(1).asid_transition, 0u);
    }
}

TEST(GlobalAsidInSequence, RefusedWhereEraOrMachineHasNone) {
  test::Box old("v6.14.7", with_invlpgb(native(2)));
  EXPECT_EQ(old.machine.apply({.kind = OpKind::kUseGlobalAsid, .mm = old.mm()}),
            OpError::kNoGlobalAsids);
  test::Box none("v6.17.5", native(2));
  EXPECT_EQ(none.machine.apply({.kind = OpKind::kUseGlobalAsid, .mm = none.mm()}),
            OpError::kNoGlobalAsids);
  EXPECT_EQ(none.machine.apply({.kind = OpKind::kUseGlobalAsid, .mm = kInitMm}),
            OpError::kNotForInitMm);
}

}  // namespace
}  // namespace hvtlb
