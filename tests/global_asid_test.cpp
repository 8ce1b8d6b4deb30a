// The branches for an mm that moves to a global ASID (v6.15 and later): switch, handler, predicate
// and builder. Broadcast flushes are not modelled; the states are set by hand.
#include <gtest/gtest.h>

#include "tests/sender.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::hyperv;
using test::native;
using test::rules_of;
using test::Sender;

constexpr u64 kGlobal = 40;

class GlobalAsid : public testing::Test {
 protected:
  GlobalAsid() : guest_(native(2)), mem_(guest_), k_{guest_, rules_of("v6.17.5"), mem_} {
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
            "cr3 0x100029 keep; store loaded0 1; sti");
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
    Sender sender(era.name, native(4));
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
  Sender sender("filtered", hyperv(4));
  sender.members({0, 1, 2}).lazy({2});
  sender.guest.mm(sender.target).asid_transition = 1;
  sender.send();
  EXPECT_TRUE(sender.native());
  EXPECT_FALSE(sender.policy.called);
  EXPECT_EQ(sender.native_targets(), 0b111u);
  EXPECT_FALSE(sender.policy.native_trim);
}

TEST_F(GlobalAsid, TheOldBuilderIgnoresATransition) {
  Sender sender("v6.17.5", hyperv(4));
  sender.members({0, 1, 2}).lazy({2});
  sender.guest.mm(sender.target).asid_transition = 1;
  sender.send();
  EXPECT_TRUE(sender.hypercall());
  EXPECT_EQ(sender.processor_mask(), 0b011u);
}

TEST_F(GlobalAsid, ABatchHasNoMmAndThereforeNoTransition) {
  Sender sender("filtered", hyperv(4));
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
  EXPECT_NE(mem_.text().find("ipi 0x1"), std::string::npos);
}

}  // namespace
}  // namespace hvtlb
