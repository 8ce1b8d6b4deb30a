// The rules that no era has: the sequential faults of the zoo, each beside the rules without it.
// Those that need an interleaving: race_rules_test.cpp.
#include <gtest/gtest.h>

#include "flush/tlbbatch.h"
#include "model/lam.h"
#include "scenario/inspector.h"
#include "tests/sender.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::Box;
using test::era_with;
using test::hyperv;
using test::kVa;
using test::native;
using test::Sender;

/// CPUs 0 to 3 are members, 2 and 3 lazy. `last_vp`: of CPU 3, whose number decides the form.
u64 reached(HypervLazySkip skip, u32 last_vp, bool freed_tables = false) {
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, 1, 2, last_vp, 4};
  Rules rules = test::rules_of("v6.4");
  rules.hv_lazy_skip = skip;
  Sender s(rules, shape);
  s.members({0, 1, 2, 3}).lazy({2, 3});
  s.info.freed_tables = freed_tables;
  s.send();
  return s.ex() ? s.bank(0) | s.bank(1) << 32 : s.processor_mask();
}

TEST(FaultyRules, LazyCpusAreSkippedInBothFormsOrInOneOrTheOthersAre) {
  EXPECT_EQ(reached(HypervLazySkip::kBothForms, 3), 0b0011u);
  EXPECT_EQ(reached(HypervLazySkip::kBothForms, 64), 0b0011u);
  EXPECT_EQ(reached(HypervLazySkip::kPlainOnly, 3), 0b0011u);
  EXPECT_EQ(reached(HypervLazySkip::kPlainOnly, 64), 0b0111u | u64{1} << 32);
  EXPECT_EQ(reached(HypervLazySkip::kExOnly, 3), 0b1111u);
  EXPECT_EQ(reached(HypervLazySkip::kExOnly, 64), 0b0011u);
  EXPECT_EQ(reached(HypervLazySkip::kInverted, 3), 0b1100u);
  EXPECT_EQ(reached(HypervLazySkip::kInverted, 64), 0b0100u | u64{1} << 32);
  for (const HypervLazySkip skip : {HypervLazySkip::kBothForms, HypervLazySkip::kPlainOnly,
                                    HypervLazySkip::kExOnly, HypervLazySkip::kInverted})
    EXPECT_EQ(reached(skip, 3, true), 0b1111u) << "freed tables reach them all";
}

TEST(FaultyRules, FreedTablesThatSkipLazyCpus) {
  for (const std::string_view era : {"v6.4", "filtered"}) {
    Sender s(era_with(era, [](Rules& r) { r.freed_tables = FreedTables::kSkipLazy; }), hyperv(5));
    s.members({0, 1, 2}).lazy({2});
    s.info.freed_tables = true;
    EXPECT_EQ(s.send().processor_mask(), 0b011u) << era;
  }
  Box box(era_with("v6.17.5", [](Rules& r) { r.freed_tables = FreedTables::kSkipLazy; }),
          native(2));
  const MmId a = box.mm();
  box.run(0, a), box.run(1, a), box.lazy(1);
  box.flush_freed(0, a);
  EXPECT_EQ(box.violated(), "P2");
}

/// Two EX calls: the first names VPs 1 and 70, the second VPs 2 and 71. The banks of the second.
std::pair<u64, u64> second_call(BankClearing clearing) {
  MachineShape shape = hyperv(6);
  shape.vp_index = {0, 1, 70, 2, 71, 3};
  Rules rules = test::rules_of("v6.4");
  rules.hv_bank_clearing = clearing;
  Sender s(rules, shape);
  s.members({1, 2}).send();
  s.guest.mm(s.target).cpumask[0] = 0;
  s.members({3, 4}).send();
  EXPECT_EQ(s.header_words(), 2u);
  return {s.bank(0), s.bank(1)};
}

TEST(FaultyRules, BankWordsThatAreNotClearedNameThoseOfTheCallBefore) {
  using Banks = std::pair<u64, u64>;
  EXPECT_EQ(second_call(BankClearing::kAll), (Banks{0b100, 1 << 7}));
  EXPECT_EQ(second_call(BankClearing::kNone), (Banks{0b110, 3 << 6}));
  EXPECT_EQ(second_call(BankClearing::kFirstOnly), (Banks{0b100, 3 << 6}));
  EXPECT_EQ(second_call(BankClearing::kStaleMax), (Banks{0b100, 3 << 6}));
  EXPECT_EQ(second_call(BankClearing::kAfterSetting), (Banks{0, 0}));
}

TEST(FaultyRules, AnUnknownVpIndexThatIsTakenForANumber) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, kVpInvalid, 2, 3};
  const Rules unchecked =
      era_with("v6.4", [](Rules& r) { r.hv_invalid_vp = InvalidVp::kUnchecked; });
  EXPECT_TRUE(Sender("v6.4", shape).members({0, 1, 2}).send().native());
  Sender plain(unchecked, shape);
  plain.members({0, 1, 2}).send();
  EXPECT_TRUE(plain.hypercall());
  EXPECT_EQ(plain.processor_mask(), 0b101u);
  EXPECT_EQ(plain.flags() >> 63, 1u) << "bit -1 of the mask is the last of the word before it";

  shape.vp_index = {0, kVpInvalid, 2, 70};
  Sender ex(unchecked, shape);
  ex.members({0, 1, 3}).send();
  EXPECT_TRUE(ex.ex());
  EXPECT_EQ(ex.header_words(), 2u);
  EXPECT_EQ(ex.bank(0), 0b1u);
  EXPECT_EQ(ex.bank(1), u64{1} << 6);
  EXPECT_EQ(ex.input.back() >> 63, 1u) << "memory outside of the page";

  shape = hyperv(5);
  shape.vp_index = {0, kVpInvalid, 64, 3, 4};  // the walk of a plain call meets them in this order
  Sender both(unchecked, shape);
  both.members({0, 1, 2, 3}).send();
  EXPECT_TRUE(both.ex());
  EXPECT_EQ(both.bank(0), 0b1001u);
}

TEST(FaultyRules, AnEmptyVpSetIsSentOrAnError) {
  MachineShape shape = hyperv(3);
  shape.vp_index = {0, 64, 1};
  shape.hv_max_vp_index = 4096;
  Sender sent("v6.4", shape);
  sent.members({0, 1}).send();
  EXPECT_TRUE(sent.hypercall());
  EXPECT_EQ(sent.banks_mask(), 0u);
  const Rules checked = era_with("v6.4", [](Rules& r) { r.hv_empty_vpset = EmptyVpset::kNative; });
  EXPECT_TRUE(Sender(checked, shape).members({0, 1}).send().native());
}

TEST(FaultyRules, AnExCallThatNamesNobodyIsMadeOrNot) {
  MachineShape shape = hyperv(3);
  shape.vp_index = {0, 1, 64};
  Sender made("v6.4", shape);
  made.members({1, 2}).lazy({1, 2}).send();
  EXPECT_TRUE(made.ex());
  EXPECT_EQ(made.bank(0), 0u);
  const Rules returns = era_with("v6.4", [](Rules& r) { r.hv_ex_nobody_returns = true; });
  EXPECT_TRUE(Sender(returns, shape).members({1, 2}).lazy({1, 2}).send().none());
  EXPECT_TRUE(Sender(returns, shape).members({1, 2}).lazy({1}).send().ex());
  EXPECT_EQ(Sender(returns, shape).members({0, 2}).lazy({2}).send().bank(0), 1u)
      << "one bank, and somebody in it";
}

/// The reps of a list call for `bytes`, 0 when it became a call for the whole space.
u64 reps_for(ListCapacity capacity, u64 bytes) {
  Rules rules = test::rules_of("v6.4");
  rules.hv_list_capacity = capacity;
  Sender s(rules, hyperv(3));
  s.members({0, 1}).range(0, bytes).send();
  return s.reps();
}

TEST(FaultyRules, HowMuchAListHolds) {
  constexpr u64 kUnit = u64{16} << 20;
  EXPECT_EQ(reps_for(ListCapacity::kFloor, 509 * kUnit), 509u);
  EXPECT_EQ(reps_for(ListCapacity::kFloor, 509 * kUnit + 4096), 510u) << "one too many (Z15)";
  EXPECT_EQ(reps_for(ListCapacity::kFloor, 510 * kUnit), 0u);
  EXPECT_EQ(reps_for(ListCapacity::kCeiling, 509 * kUnit), 509u);
  EXPECT_EQ(reps_for(ListCapacity::kCeiling, 509 * kUnit + 4096), 0u);
  EXPECT_EQ(reps_for(ListCapacity::kBoolean, 509 * kUnit + 4096), 510u);
  EXPECT_EQ(reps_for(ListCapacity::kBoolean, 2000 * kUnit), 510u) << "no limit but the model's";
}

TEST(FaultyRules, TheTailOfAListThatGoesRoundTheTopOfTheAddressSpace) {
  const u64 start = ~u64{0} - 0x1fff;
  const u64 end = ~u64{0} - 0xfff;
  EXPECT_EQ(Sender("v6.4", hyperv(3)).members({0, 1}).range(start, end).send().reps(), 1u);
  const Rules full = era_with("v6.4", [](Rules& r) { r.hv_gva_tail = GvaTail::kFullUnit; });
  EXPECT_GT(Sender(full, hyperv(3)).members({0, 1}).range(start, end).send().reps(), 1u);
  EXPECT_EQ(Sender(full, hyperv(3)).members({0, 1}).range(kVa, kVa + 4096).send().reps(), 1u);
}

TEST(FaultyRules, TheWayOutThatLeavesInterruptsOff) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 64, 1, 2};
  for (const bool restores : {true, false}) {
    Rules rules = test::rules_of("v6.4");
    rules.hv_fallback_restores_irqs = restores;
    Machine machine(shape, rules);
    Inspector inspector(machine, rules);
    machine.apply({.kind = OpKind::kNewMm});
    for (Cpu cpu = 0; cpu < 3; ++cpu)
      machine.apply({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = 1});
    machine.apply(
        {.kind = OpKind::kFlushMmRange, .cpu = 0, .mm = 1, .start = kVa, .end = kVa + 4096});
    EXPECT_EQ(machine.guest().cpu_tlbstate[0].irqs_off, restores ? 0u : 1u);
    EXPECT_EQ(machine.nr_violations(), restores ? 0u : 1u);
    if (!restores) {
      EXPECT_EQ(machine.violations().front().property, Property::kIrq);
    }
  }
}

TEST(FaultyRules, AGenerationThatIsIncrementedAfterTheSend) {
  for (const bool after : {false, true}) {
    Rules rules = test::rules_of("v6.17.5");
    if (after) rules.gen_increment = GenIncrement::kAfterSend;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    box.flush(0, a);
    EXPECT_EQ(box.violated(), after ? "P1 P1" : "");
    EXPECT_EQ(box.machine.guest().mm(a).tlb_gen, 1u);
    box.flush(0, a);
    EXPECT_EQ(box.machine.guest().mm(a).tlb_gen, 2u);
  }
}

TEST(FaultyRules, ABatchWithoutAGenerationThatTheHandlerTakesForOldOne) {
  for (const bool knows : {true, false}) {
    Rules rules = test::rules_of("v6.1");
    rules.handler_knows_no_gen = knows;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    box.batch_add(a);
    box.batch_flush(0);
    EXPECT_EQ(box.violated(), knows ? "" : "P1 P1");
  }
}

TEST(FaultyRules, ANestedReclaimThatForgetsTheBatch) {
  for (const bool keeps : {true, false}) {
    Rules rules = test::rules_of("v6.1");
    rules.nested_reclaim_keeps_batch = keeps;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    box.batch_add(a);
    EXPECT_EQ(box.machine.apply({.kind = OpKind::kNestedReclaim}), OpError::kNone);
    box.batch_flush(0);
    EXPECT_EQ(box.violated(), keeps ? "" : "P1 P1");
  }
}

TEST(FaultyRules, ATemporaryMmOnALazyCpu) {
  for (const bool leaves : {true, false}) {
    Rules rules = test::rules_of("v6.12.117");
    rules.temporary_mm_leaves_lazy = leaves;
    Box box(rules, native(2));
    const MmId a = box.mm();
    const MmId poking = box.mm();
    box.run(1, a), box.lazy(1);
    box.use_temporary(1, poking);
    box.unuse_temporary(1);
    EXPECT_EQ(box.loaded(1), leaves ? kInitMm : a);
    EXPECT_EQ(box.violated(), leaves ? "" : "lazy");
  }
}

TEST(FaultyRules, ATrimRoundThatReachesLazyCpusOrPassesThemBy) {
  for (const bool reaches : {false, true}) {
    Rules rules = test::rules_of("v6.17.5");
    rules.trim_reaches_lazy = reaches;
    Box box(rules, native(3));
    const MmId a = box.mm();
    const MmId b = box.mm();
    box.run(1, a), box.run(1, b), box.lazy(1);
    box.run(0, a);
    box.tick(1000);
    box.flush(0, a);
    EXPECT_EQ(box.sent(), reaches ? 0b11u : 0b01u);
    EXPECT_EQ(box.mask(a), reaches ? 0b01u : 0b11u);
    EXPECT_EQ(box.violated(), "");
  }
}

TEST(FaultyRules, LamThatIsEnabledOnThisCpuOnly) {
  for (const bool whole_mask : {true, false}) {
    Rules rules = test::rules_of("v6.4");
    if (!whole_mask) rules.lam_enable = LamEnable::kThisCpu;
    MachineShape shape = native(2);
    shape.lam = true;
    Box box(rules, shape);
    const MmId a = box.mm();
    box.run(1, a), box.lazy(1);
    box.run(0, a);
    EXPECT_EQ(box.machine.apply({.kind = OpKind::kEnableLam, .cpu = 0}), OpError::kNone);
    EXPECT_EQ(box.machine.truth().lam_bits(0), 0x2000000000000000u);
    EXPECT_EQ(box.machine.truth().lam_bits(1), whole_mask ? kCr3LamU57 : 0);
    box.run(1, a);  // without a CR3 write
    EXPECT_EQ(box.violated(), whole_mask ? "" : "cr3");
    if (!whole_mask) {
      EXPECT_EQ(box.machine.violations().front().va, 0u) << "it is about no page";
    }
  }
}

/// CPU 1 goes on in user mode after a flush by CPU 0 of one page, or of everything.
std::string after_flush(UserPcidBit bit, u64 end) {
  Rules rules = test::rules_of("v6.17.5");
  rules.user_pcid_bit = bit;
  MachineShape shape = native(2);
  shape.pti = true;
  Box box(rules, shape);
  const MmId a = box.mm();
  box.run(0, a), box.run(1, a);
  box.flush(0, a, end == kTlbFlushAll ? 0 : kVa, end);
  box.touch(1);
  return box.violated();
}

TEST(FaultyRules, TheUserHalfOfAPcid) {
  EXPECT_EQ(after_flush(UserPcidBit::kAsidPlusOne, kTlbFlushAll), "");
  EXPECT_EQ(after_flush(UserPcidBit::kAsidPlusOne, kVa + kPageSize), "");
  EXPECT_EQ(after_flush(UserPcidBit::kForgotten, kTlbFlushAll), "P1");
  EXPECT_EQ(after_flush(UserPcidBit::kForgotten, kVa + kPageSize), "") << "INVLPG remembers";
  EXPECT_EQ(after_flush(UserPcidBit::kAsid, kTlbFlushAll), "P1");
  EXPECT_EQ(after_flush(UserPcidBit::kAsid, kVa + kPageSize), "P1");
}

TEST(FaultyRules, AnUnknownVpIndexAmongFilteredTargets) {
  Rules rules = test::rules_of("filtered");
  rules.hv_invalid_vp = InvalidVp::kUnchecked;
  rules.hv_format_from = HypervFormatFrom::kMask;
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, kVpInvalid, 2, 3, 4};
  Sender s(rules, shape);
  s.members({0, 1, 2}).send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 0b101u);
}

TEST(FaultyRules, AnExCallBeginsItsHeaderAnewWhateverAPlainWalkHasWritten) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {kVpInvalid, 70, 5, 6};
  Sender s(era_with("v6.4", [](Rules& r) { r.hv_invalid_vp = InvalidVp::kUnchecked; }), shape);
  s.members({0, 1, 2}).send();
  EXPECT_TRUE(s.ex());
  EXPECT_EQ(s.policy.input[hv::kFlagsWord], 0u);
}

TEST(FaultyRules, AnEmptyLiveMaskIsReadBehindItsEnd) {
  for (const EmptyLiveMask empty : {EmptyLiveMask::kChecked, EmptyLiveMask::kLastUnchecked}) {
    Rules rules = test::rules_of("v6.4");
    rules.hv_empty_live_mask = empty;
    Guest guest(hyperv(3));
    guest.new_mm();
    test::TracePolicy mem(guest);
    Kernel<test::TracePolicy> k{guest, rules, mem};
    FlushTlbInfo info;
    info.mm = 1;
    info.has_mm = true;
    flush_tlb_multi(k, 0, guest.mm(1).cpumask, info);
    EXPECT_EQ(mem.text().find("behind vp_index") != std::string::npos,
              empty == EmptyLiveMask::kLastUnchecked);
    EXPECT_EQ(mem.text().find("hypercall"), std::string::npos);
  }
}

}  // namespace
}  // namespace hvtlb
