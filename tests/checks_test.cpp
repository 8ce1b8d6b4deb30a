// P1 to P4, each violated by construction: found, with the CPU, the mm, the page and the reason.
#include "model/checks.h"

#include <gtest/gtest.h>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::native;

/// The first violation of `box`, which there must be.
Violation first(const Box& box) {
  EXPECT_FALSE(box.machine.violations().empty());
  return box.machine.violations().empty() ? Violation{} : box.machine.violations().front();
}

TEST(Checks, P1AHostThatFlushesNobodyAndAnswersSuccess) {
  class LyingHost final : public HypercallHost {
    void call(u64 control, std::span<const u64>, HostEffect& effect) override {
      effect.result = hv::result_word(0, hv::rep_count(control));
    }
  } host;
  Box box("v6.17.5", hyperv(3), &host);
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.flush(0, mm, kVa + kPageSize, kVa + 3 * kPageSize);
  EXPECT_EQ(box.violated(), "P1 P1");
  const Violation v = box.machine.violations().back();
  EXPECT_EQ(v.property, Property::kP1);
  EXPECT_EQ(v.cpu, 1u);
  EXPECT_EQ(v.mm, mm);
  EXPECT_EQ(v.va, kVa + kPageSize);
  EXPECT_NE(v.why.find("older translation"), std::string::npos);
}

TEST(Checks, P1APredicateThatSkipsWhoRunsTheMm) {
  Box box("v6.17.5", native(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.machine.guest().cpu_tlbstate_shared[1].is_lazy = 1;  // and yet its code runs on
  box.flush(0, mm);
  EXPECT_EQ(box.violated(), "P1");
  EXPECT_EQ(first(box).cpu, 1u);
}

TEST(Checks, P1AGenerationThatIsNotReadAfterLaziness) {
  Box box("v6.17.5", native(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.lazy(1);
  box.flush(0, mm);
  EXPECT_EQ(box.violated(), "");
  box.machine.guest().cpu_tlbstate_shared[1].is_lazy = 0;  // the switch takes it for busy
  box.run(1, mm);
  EXPECT_EQ(box.violated(), "P1");
}

TEST(Checks, P2ALazyCpuThatIsSkippedWhenTablesAreFreed) {
  Box box("v6.17.5", native(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.lazy(1);
  box.machine.guest().mm(mm).cpumask[0] = 1;
  box.flush_freed(0, mm);
  const Violation v = first(box);
  EXPECT_EQ(v.property, Property::kP2);
  EXPECT_EQ(v.cpu, 1u);
  EXPECT_EQ(v.mm, mm);
  EXPECT_EQ(v.va, kVa);
  EXPECT_NE(v.why.find("freed table"), std::string::npos);
}

TEST(Checks, P3AGenerationThatExceedsTheMms) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.machine.guest().cpu_tlbstate[0].ctxs[1].tlb_gen = 7;
  box.run(0, mm);
  const Violation v = first(box);
  EXPECT_EQ(v.property, Property::kP3);
  EXPECT_EQ(v.cpu, 0u);
  EXPECT_EQ(v.mm, mm);
  EXPECT_NE(v.why.find("7 exceeds the mm's 0"), std::string::npos);
}

TEST(Checks, P3AGenerationThatTheCacheDoesNotKeep) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.lazy(1);
  box.flush(0, mm, kVa + 5 * kPageSize, kVa + 6 * kPageSize);
  box.machine.guest().cpu_tlbstate[1].ctxs[1].tlb_gen = 1;
  box.run(1, mm);
  EXPECT_EQ(box.violated(), "P3 P1");
  EXPECT_EQ(first(box).cpu, 1u);
  EXPECT_EQ(first(box).va, kVa + 5 * kPageSize);
  EXPECT_NE(first(box).why.find("the slot says generation 1"), std::string::npos);
}

TEST(Checks, P3LowerIsLegal) {
  Box box("v6.17.5", hyperv(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.flush(0, mm);
  EXPECT_EQ(box.slot_gen(1), 0u) << "a hypercall leaves generations behind";
  box.touch(1);
  EXPECT_EQ(box.violated(), "");
}

TEST(Checks, P4ACpuThatIsNotInTheMaskOfWhatItRuns) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(1, mm);
  box.machine.guest().mm(mm).cpumask[0] = 0;
  box.run(1, mm);
  const Violation v = first(box);
  EXPECT_EQ(v.property, Property::kP4);
  EXPECT_EQ(v.cpu, 1u);
  EXPECT_EQ(v.mm, mm);
  EXPECT_NE(v.why.find("not in its mask"), std::string::npos);
}

TEST(Checks, P4EvenWhenLazy) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(1, mm);
  box.lazy(1);
  box.machine.guest().mm(mm).cpumask[0] = 0;
  EXPECT_TRUE(check_p4(box.machine.guest(), box.machine.truth(), 1).has_value());
  EXPECT_FALSE(check_p4(box.machine.guest(), box.machine.truth(), 0).has_value());
}

TEST(Checks, MidSwitchNothingIsJudged) {
  Box box("v6.17.5", native(1));
  const MmId mm = box.mm();
  box.run(0, mm);
  Guest& guest = box.machine.guest();
  guest.cpu_tlbstate_shared[0].loaded_mm = kLoadedMmSwitching;
  guest.cpu_tlbstate[0].ctxs[1].tlb_gen = 9;
  EXPECT_FALSE(check_p3(guest, box.machine.truth(), 0));
  EXPECT_FALSE(check_p4(guest, box.machine.truth(), 0));
}

TEST(Checks, AGlobalAsidHasNoSlotToJudge) {
  Box box("v6.17.5", test::with_invlpgb(native(1)));
  const MmId mm = box.mm();
  box.machine.guest().mm(mm).global_asid = 40;
  box.run(0, mm);
  EXPECT_EQ(box.tlb(0).loaded_mm_asid, 40u);
  EXPECT_FALSE(check_p3(box.machine.guest(), box.machine.truth(), 0));
  EXPECT_EQ(box.violated(), "");
}

TEST(Checks, WithoutPcidTheGenerationIsJudgedAgainstPcidZero) {
  MachineShape shape = native(2);
  shape.pcid = false;
  Box box("v6.17.5", shape);
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.lazy(1);
  box.flush(0, mm);
  box.machine.guest().cpu_tlbstate[1].ctxs[0].tlb_gen = 1;
  EXPECT_TRUE(check_p3(box.machine.guest(), box.machine.truth(), 1));
}

TEST(Checks, RulesWithOneFieldBrokenAreFound) {
  Rules rules = test::rules_of("v6.1");
  rules.next_bit = NextBit::kSetIfClear;
  rules.prev_bit = PrevBit::kLeftBehind;
  rules.same_mm_repairs_bit = false;
  rules.unuse_clears_bit = true;
  Box box(rules, native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.use_temporary(0, mm);  // the mm that is loaded: its bit goes, the CPU stays
  box.unuse_temporary(0);
  box.run(1, mm);
  box.flush(1, mm);
  EXPECT_EQ(box.violated(), "P1");
  EXPECT_EQ(first(box).cpu, 0u);
}

TEST(Checks, OneLineSaysItAll) {
  EXPECT_EQ(to_string(Violation{Property::kP2, 3, 4, 0x5123, "because"}),
            "P2 (no walk of a freed table): CPU 3, mm 4, page 0x5000: because");
  EXPECT_EQ(to_string(Violation{Property::kP3, 1, 2, 0x1fff, "x"}),
            "P3 (generation honesty): CPU 1, mm 2, page 0x1000: x");
  EXPECT_EQ(to_string(Violation{Property::kP4, 1, 2, 0, "x"}), "P4 (membership): CPU 1, mm 2: x");
  EXPECT_EQ(name_of(Property::kP8), "P8");
  EXPECT_EQ(meaning_of(Property::kP1), "no missed flush");
}

TEST(Checks, OnlyTheFirstViolationsAreKept) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  for (u32 at = 0; at < kMaxViolationsKept + 20; ++at) {
    box.machine.guest().mm(mm).cpumask[0] = 0;
    box.run(0, mm);
  }
  EXPECT_EQ(box.machine.violations().size(), kMaxViolationsKept);
  EXPECT_EQ(box.machine.nr_violations(), kMaxViolationsKept + 20);
}

TEST(Checks, WhatIsAboutNoPageHasNoAddress) {
  EXPECT_EQ((Violation{.property = Property::kP4, .why = ""}).va, 0u);
}

}  // namespace
}  // namespace hvtlb
