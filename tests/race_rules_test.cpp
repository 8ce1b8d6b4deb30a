// The rules of the zoo's races: which step each of them moves, leaves out or adds. That it breaks a
// property is for the litmuses.
#include <gtest/gtest.h>

#include "flush/tlbbatch.h"
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

std::string switched(void (*change)(Rules&), std::string_view era, MmId to) {
  const Rules rules = era_with(era, change);
  Guest guest(native(2));
  guest.new_mm();
  guest.new_mm();
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, rules, mem};
  switch_mm(k, 0, 1);
  guest.cpu_tlbstate_shared[0].is_lazy = 1;
  mem.steps.clear();
  switch_mm(k, 0, to);
  return mem.text();
}

TEST(RaceRules, TheWaysOutOfLaziness) {
  const auto out = [](void (*change)(Rules&)) { return switched(change, "v6.17.5", 1); };
  EXPECT_EQ(out([](Rules&) {}),
            "cli; load loaded0; load lazy0; store lazy0 0; fence; load gen1; sti");
  EXPECT_EQ(out([](Rules& r) { r.lazy_exit = LazyExit::kNoFence; }),
            "cli; load loaded0; load lazy0; store lazy0 0; load gen1; sti");
  EXPECT_EQ(out([](Rules& r) { r.lazy_exit = LazyExit::kGenFirst; }),
            "cli; load loaded0; load lazy0; load gen1; store lazy0 0; sti");
}

TEST(RaceRules, ASwitchThatLetsInterruptsInDoesSoBetweenTheBitAndTheGeneration) {
  EXPECT_EQ(switched([](Rules& r) { r.switch_lets_irqs_in = true; }, "v6.17.5", 2),
            "cli; load loaded0; load lazy0; store lazy0 0; store loaded0 SWITCHING; load mask2; "
            "locked or mask2; sti; cli; load gen2; cr3 0x200003 flush; store loaded0 2; sti");
}

TEST(RaceRules, APlainSetOfTheMaskBit) {
  EXPECT_EQ(switched([](Rules& r) { r.next_bit = NextBit::kPlainSet; }, "v6.17.5", 2),
            "cli; load loaded0; load lazy0; store lazy0 0; store loaded0 SWITCHING; load mask2; "
            "store mask2 1; load gen2; cr3 0x200003 flush; store loaded0 2; sti");
}

TEST(RaceRules, ActiveMmChangesWithTheMmOrBeforeIt) {
  EXPECT_EQ(switched([](Rules& r) { r.active_mm = ActiveMm::kChangedWithMm; }, "v6.17.5", 2)
                .find("cli; store active0 2; load loaded0"),
            0u);
  EXPECT_EQ(switched([](Rules& r) { r.active_mm = ActiveMm::kChangedBeforeMm; }, "v6.17.5", 2)
                .find("store active0 2; cli; load loaded0"),
            0u);
}

TEST(RaceRules, AHandlerThatAsksActiveMmBelievesIt) {
  for (const ActiveMm active : {ActiveMm::kNotAsked, ActiveMm::kChangedWithMm}) {
    Rules rules = test::rules_of("v6.17.5");
    rules.active_mm = active;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    box.machine.guest().cpu_tlbstate[1].active_mm = kInitMm;
    box.flush(0, a);
    EXPECT_EQ(box.machine.guest().in_cpumask(a, 1), active == ActiveMm::kNotAsked);
  }
}

TEST(RaceRules, AReturnThatComparesNoGenerations) {
  for (const bool compares : {true, false}) {
    Rules rules = test::rules_of("v6.12.117");
    rules.return_compares_gen = compares;
    Box box(rules, native(2));
    const MmId a = box.mm();
    const MmId b = box.mm();
    box.run(0, a), box.run(1, a), box.run(1, b);
    box.flush(0, a);
    box.run(1, a);
    EXPECT_EQ(box.violated().find("P1") != std::string::npos, !compares);
  }
}

TEST(RaceRules, APartialFlushOfTheNewestGenerationOvertakes) {
  for (const PartialFlush partial : {PartialFlush::kNextGen, PartialFlush::kNewestGen}) {
    Rules rules = test::rules_of("v6.17.5");
    rules.partial_flush = partial;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    ++box.machine.guest().mm(a).tlb_gen;  // a flush that CPU 1 has not heard of yet
    box.flush(0, a);
    const bool whole = box.machine.truth().may_hold_old(1, a, {kVa, kVa + kPageSize});
    EXPECT_FALSE(whole);
    EXPECT_EQ(box.tlb(1).ctxs[box.tlb(1).loaded_mm_asid].tlb_gen, 2u);
    FlushTlbInfo info;
    info.mm = a;
    info.has_mm = true;
    info.start = kVa, info.end = kVa + kPageSize;
    info.new_tlb_gen = box.machine.guest().mm(a).tlb_gen = 5;
    test::TracePolicy mem(box.machine.guest());
    Kernel<test::TracePolicy> k{box.machine.guest(), rules, mem};
    flush_tlb_func(k, 1, info);
    EXPECT_EQ(mem.text().find("invlpg") != std::string::npos, partial == PartialFlush::kNewestGen);
  }
}

std::string flushed(void (*change)(Rules&), bool freed_tables = false) {
  const Rules rules = era_with("v6.4", change);
  Guest guest(native(2));
  guest.new_mm();
  guest.mm(1).cpumask[0] = 0b10;
  guest.cpu_tlbstate_shared[1].loaded_mm = 1;
  guest.cpu_tlbstate_shared[1].is_lazy = 1;
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, rules, mem};
  flush_tlb_mm_range(k, 0, 1, kVa, kVa + kPageSize, kPageShift, freed_tables);
  return mem.text();
}

TEST(RaceRules, HowAndWhenAFlushIncrementsTheGeneration) {
  EXPECT_EQ(flushed([](Rules&) {}).find("locked add gen1; requested; load mask1"), 0u);
  EXPECT_EQ(flushed([](Rules& r) {
              r.gen_increment = GenIncrement::kPlain;
            }).find("load gen1; store gen1 1; requested; load mask1"),
            0u);
  const std::string after = flushed([](Rules& r) { r.gen_increment = GenIncrement::kAfterSend; });
  EXPECT_EQ(after.find("load gen1; requested; load mask1"), 0u);
  EXPECT_NE(after.find("locked add gen1; returned"), std::string::npos);
}

TEST(RaceRules, TablesThatAreFreedBeforeTheFlush) {
  const auto before = [](Rules& r) { r.table_free = TableFree::kBeforeFlush; };
  EXPECT_EQ(flushed(before, true).find("locked add gen1; requested; tables freed; load mask1"), 0u);
  EXPECT_EQ(flushed(before).find("tables freed"), std::string::npos);
  EXPECT_EQ(flushed([](Rules&) {}, true).find("tables freed"), std::string::npos);
}

TEST(RaceRules, ThePredicateMayReadInEitherOrder) {
  EXPECT_NE(flushed([](Rules&) {}).find("load loaded1; load lazy1"), std::string::npos);
  EXPECT_NE(flushed([](Rules& r) {
              r.predicate_reads = PredicateReads::kIsLazyFirst;
            }).find("load lazy1; load loaded1"),
            std::string::npos);
  // In the fix's copy of the mask as well, however many stand side by side.
  Guest guest(hyperv(9));
  guest.new_mm();
  guest.mm(1).cpumask[0] = 0b111111110;
  for (Cpu cpu = 1; cpu < 9; ++cpu) guest.cpu_tlbstate_shared[cpu].loaded_mm = 1;
  const Rules rules =
      era_with("filtered", [](Rules& r) { r.predicate_reads = PredicateReads::kIsLazyFirst; });
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, rules, mem};
  FlushTlbInfo info;
  info.mm = 1;
  info.has_mm = true;
  flush_tlb_multi(k, 0, guest.mm(1).cpumask, info);
  for (Cpu cpu = 1; cpu < 9; ++cpu)
    EXPECT_NE(mem.text().find(fmt::format("load lazy{}; load loaded{}", cpu, cpu)),
              std::string::npos);
}

TEST(RaceRules, ABatchThatTakesTheMaskBeforeTheGeneration) {
  Guest guest(native(2));
  guest.new_mm();
  const Rules rules = era_with("v6.17.5", [](Rules& r) { r.batch_mask = BatchMask::kBeforeGen; });
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, rules, mem};
  TlbBatch batch;
  FlushTlbInfo info;
  arch_tlbbatch_add_pending(k, 0, batch, 1, info);
  EXPECT_EQ(mem.text(), "load mask1; locked add gen1; batched");
}

TEST(RaceRules, ASenderThatTrimsClearsTheBitsOfCpusElsewhere) {
  for (const TrimBy who : {TrimBy::kHandler, TrimBy::kSender}) {
    Rules rules = test::rules_of("v6.17.5");
    rules.trim_by = who;
    Sender s(rules, native(5));
    s.members({0, 1, 2, 3}).loaded({2}, s.other);
    s.guest.cpu_tlbstate_shared[3].loaded_mm = kLoadedMmSwitching;
    s.send();
    EXPECT_EQ(s.guest.mm(s.target).cpumask[0], 0b1111u) << "no trim round";
    s.info.trim_cpumask = true;
    s.send();
    const bool sender = who == TrimBy::kSender;
    EXPECT_EQ(s.native_targets(), sender ? 0b1011u : 0b1111u);
    EXPECT_EQ(s.guest.mm(s.target).cpumask[0], sender ? 0b1011u : 0b1111u);
  }
}

}  // namespace
}  // namespace hvtlb
