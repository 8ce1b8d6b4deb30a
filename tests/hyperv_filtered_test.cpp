// The fix under review, clause by clause as the specification numbers them.
#include <gtest/gtest.h>

#include "tests/sender.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::Sender;

Sender filtered(const MachineShape& shape) {
  return Sender("filtered", shape);
}

TEST(Filtered, Clause1NoHypercallPageOrNoInputPageIsNative) {
  MachineShape shape = hyperv(4);
  shape.hypercall_page = false;
  EXPECT_TRUE(filtered(shape).members({0, 1}).send().native());
  shape.hypercall_page = true;
  shape.input_pages = false;
  Sender s = filtered(shape).members({0}).send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.native_trim) << "no trim was asked for";
}

TEST(Filtered, Clause2APeriodicTrimRoundIsNative) {
  Sender s = filtered(hyperv(5)).members({0, 1, 2, 3}).lazy({3});
  s.loaded({2}, s.other);
  s.info.trim_cpumask = true;
  s.send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.called);
  EXPECT_TRUE(s.policy.native_trim);
  EXPECT_EQ(s.native_targets(), 0b0111u);
}

TEST(Filtered, Clause2EvenWithFreedTables) {
  Sender s = filtered(hyperv(5)).members({0, 1, 2}).lazy({2});
  s.info.trim_cpumask = true;
  s.info.freed_tables = true;
  s.send();
  EXPECT_TRUE(s.native());
  EXPECT_EQ(s.native_targets(), 0b111u);
}

TEST(Filtered, Clause2OptionTrimRoundsByHypercall) {
  Rules rules = test::rules_of("filtered");
  rules.hv_trim_round_native = false;
  Sender s(rules, hyperv(5));
  s.members({0, 1, 2});
  s.info.trim_cpumask = true;
  s.guest.invlpgb = true;
  s.guest.mm(s.target).asid_transition = 1;
  EXPECT_TRUE(s.send().hypercall());
}

TEST(Filtered, Clause3FreedTablesReachTheWholeMask) {
  Sender s = filtered(hyperv(6)).members({0, 1, 2, 3}).lazy({1});
  s.loaded({2}, s.other).loaded({3}, kInitMm);
  s.info.freed_tables = true;
  s.send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 0b1111u);
}

TEST(Filtered, Clause3FreedTablesWithThisCpuAloneIsStillACall) {
  Sender s = filtered(hyperv(6)).members({0});
  s.info.freed_tables = true;
  s.send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 1u);
}

TEST(Filtered, Clause3AnEmptyMaskWithFreedTablesIsNothing) {
  Sender s = filtered(hyperv(6));
  s.info.freed_tables = true;
  EXPECT_TRUE(s.send().none());
}

TEST(Filtered, Clause4TheNativePredicateChooses) {
  Sender s = filtered(hyperv(7)).members({0, 1, 2, 3, 4, 5}).lazy({1});
  s.loaded({2}, s.other).loaded({3}, kInitMm).loaded({4}, kLoadedMmSwitching);
  s.send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 0b110001u);
}

TEST(Filtered, Clause4WithoutAnMmOnlyLazinessCounts) {
  Sender s = filtered(hyperv(7)).members({0, 1, 2, 3}).lazy({1});
  s.loaded({2}, s.other).loaded({3}, kInitMm);
  s.info.has_mm = false;
  EXPECT_EQ(s.send().processor_mask(), 0b1101u);
}

TEST(Filtered, Clause4OfflineMembersThatPassAreNamed) {
  MachineShape shape = hyperv(5);
  shape.online = CpuMask(5);
  shape.online->set(0);
  shape.online->set(1);
  EXPECT_EQ(filtered(shape).members({0, 1, 2}).send().processor_mask(), 0b111u);
}

TEST(Filtered, Clause5NoRemoteTargetTrimsAtOnceNatively) {
  Sender s = filtered(hyperv(6)).members({0, 1, 2, 3}).lazy({2});
  s.loaded({1}, s.other).loaded({3}, kInitMm);
  const u64 next_trim = s.guest.mm(s.target).next_trim_cpumask;
  s.send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.called);
  EXPECT_TRUE(s.policy.native_trim);
  EXPECT_EQ(s.native_targets(), 0b1011u) << "the stale ones and this CPU";
  EXPECT_EQ(s.guest.mm(s.target).next_trim_cpumask, next_trim) << "default: not rewritten";
}

TEST(Filtered, Clause5OptionTheTrimRewritesItsTime) {
  Rules rules = test::rules_of("filtered");
  rules.hv_immediate_trim_rewrites_next_trim = true;
  Sender s(rules, hyperv(6));
  s.members({0, 1}).loaded({1}, s.other);
  s.guest.jiffies = 7777;
  s.send();
  EXPECT_EQ(s.guest.mm(s.target).next_trim_cpumask, 7777u + s.guest.hz);
  s.info.has_mm = false;
  s.lazy({1});
  s.guest.jiffies = 9999;
  s.send();
  EXPECT_EQ(s.guest.mm(s.target).next_trim_cpumask, 7777u + s.guest.hz) << "no mm, no time";
}

TEST(Filtered, Clause5OptionWithoutImmediateTrims) {
  Rules rules = test::rules_of("filtered");
  rules.hv_immediate_trim = false;
  Sender s(rules, hyperv(6));
  s.members({0, 1}).loaded({1}, s.other).send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 1u);
  EXPECT_TRUE(s.lazy({0}).send().none());
}

TEST(Filtered, Clause5AnExitingTaskIsLazyOnItsOwnMm) {
  Sender s = filtered(hyperv(6)).members({0, 1}).lazy({0});
  s.loaded({1}, s.other).send();
  EXPECT_EQ(s.native_targets(), 0b10u);
}

TEST(Filtered, Clause5AForeignInitiatorHasAnotherMmLoaded) {
  Sender stale = filtered(hyperv(6)).members({1, 2});
  stale.loaded({0, 1}, stale.other).loaded({2}, kInitMm).send();
  EXPECT_EQ(stale.native_targets(), 0b110u);
  Sender member = filtered(hyperv(6)).members({0, 1});
  member.loaded({0, 1}, member.other).send();
  EXPECT_EQ(member.native_targets(), 0b11u) << "in the mask, it clears its own bit";
}

TEST(Filtered, Clause5LazyMembersCostNothingAndKeepTheirBits) {
  Box box("filtered", hyperv(5));
  const MmId mm = box.mm();
  for (Cpu cpu = 0; cpu < 4; ++cpu) box.run(cpu, mm);
  box.lazy(1);
  box.leave(2);
  box.offline(3);
  for (int round = 0; round < 2; ++round) {
    box.flush(0, mm);
    EXPECT_EQ(box.last().outcome, Outcome::kNative);
    EXPECT_TRUE(box.last().trim);
    EXPECT_EQ(box.sent(), round == 0 ? 0b0101u : 0b0001u);
    EXPECT_EQ(box.mask(mm), 0b1011u);
  }
  EXPECT_EQ(box.last().nr_ipis(), 0u);
}

TEST(Filtered, Clause5LaterFlushesStayOnTheLocalFastPath) {
  Box box("filtered", hyperv(4));
  const MmId mm = box.mm();
  for (Cpu cpu : {1u, 2u, 3u, 0u}) box.run(cpu, mm);
  for (Cpu cpu : {1u, 2u, 3u}) box.leave(cpu);
  box.flush(0, mm);
  EXPECT_EQ(box.last().nr_ipis(), 3u);
  EXPECT_EQ(box.mask(mm), 1u);
  box.flush(0, mm);
  EXPECT_EQ(box.last().outcome, Outcome::kLocal);
  EXPECT_EQ(box.violated(), "");
}

TEST(Filtered, Clause5WithoutAnMmThereIsNothingToTrim) {
  Sender s = filtered(hyperv(6)).members({0, 1}).lazy({1});
  s.info.has_mm = false;
  s.send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.native_trim);
  EXPECT_EQ(s.native_targets(), 1u);
}

TEST(Filtered, Clause6AllProcessorsIsDecidedByTheTargets) {
  Sender s = filtered(hyperv(3)).members({0, 1, 2}).send();
  EXPECT_EQ(s.flags(), 1u);
  EXPECT_EQ(s.processor_mask(), 0u);
  s.lazy({2}).send();
  EXPECT_EQ(s.flags(), 0u) << "not by the mask";
  EXPECT_EQ(s.processor_mask(), 0b11u);
  MachineShape shape = hyperv(4);
  shape.present = CpuMask(4);
  shape.present->set(0);
  shape.present->set(1);
  EXPECT_EQ(filtered(shape).members({0, 1, 3}).lazy({3}).send().flags(), 1u);
}

TEST(Filtered, Clause7TheFormatIsDecidedByTheTargets) {
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, 1, 64, 200, 2};
  Sender s = filtered(shape).members({0, 1, 2, 3}).lazy({2, 3}).send();
  EXPECT_EQ(s.code(), 3u) << "the last CPU of the mask needs EX, that of the targets does not";
  EXPECT_EQ(s.processor_mask(), 0b11u);
  Sender ex = filtered(shape).members({0, 1, 2, 3}).lazy({3}).send();
  EXPECT_EQ(ex.code(), 0x14u);
  EXPECT_EQ(ex.header_words(), 2u) << "the bank count, too";
  EXPECT_EQ(ex.bank(0), 0b11u);
  EXPECT_EQ(ex.bank(1), 1u);
}

TEST(Filtered, Clause7AnInvalidVpCountsOnlyAmongTheTargets) {
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, kVpInvalid, 2, kVpInvalid, 4};
  EXPECT_TRUE(filtered(shape).members({0, 1, 2, 3}).lazy({1, 3}).send().hypercall());
  Sender s = filtered(shape).members({0, 1, 2}).send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.native_trim);
}

TEST(Filtered, Clause7OptionTheFormatFromTheMask) {
  Rules rules = test::rules_of("filtered");
  rules.hv_format_from = HypervFormatFrom::kMask;
  Sender s(rules, hyperv(3));
  s.members({0, 1, 2}).lazy({2}).send();
  EXPECT_EQ(s.flags(), 1u) << "the mask equals the present CPUs";
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 1, 64, 2};
  Sender high(rules, shape);
  high.members({0, 1, 2}).lazy({2}).send();
  EXPECT_EQ(high.code(), 0x14u) << "the mask's last CPU needs EX";
  EXPECT_EQ(high.header_words(), 1u);
  EXPECT_EQ(high.bank(0), 0b11u) << "the targets are the filtered ones";
}

TEST(Filtered, Clause8RangesAndFallbackAsBefore) {
  constexpr u64 kUnit = u64{16} << 20;
  Sender s = filtered(hyperv(5)).members({0, 1, 2}).lazy({2});
  EXPECT_EQ(s.range(kVa, kVa + 510 * kUnit - 1).send().reps(), 510u);
  EXPECT_EQ(s.range(0, kTlbFlushAll).send().flags(), 4u);
  EXPECT_EQ(s.range(kVa, kVa + 510 * kUnit).send().flags(), 0u);
  s.host_status = 5;
  s.send();
  EXPECT_TRUE(s.native());
  EXPECT_TRUE(s.policy.called);
  EXPECT_FALSE(s.policy.native_trim);
  EXPECT_EQ(s.native_targets(), 0b11u);
}

TEST(Filtered, Clause8TheFallbackIsTheNativePathOverTheWholeMask) {
  Sender s = filtered(hyperv(5)).members({0, 1, 2}).lazy({2});
  s.info.freed_tables = true;
  s.host_status = 2;
  EXPECT_EQ(s.send().native_targets(), 0b111u);
}

TEST(Filtered, LargeMasksAreFilteredWordByWord) {
  Sender s = filtered(hyperv(200)).all_members();
  for (Cpu cpu = 0; cpu < 200; ++cpu)
    if (cpu % 3 != 0) s.lazy({cpu});
  s.loaded({63}, s.other).loaded({66}, s.other).send();
  ASSERT_EQ(s.header_words(), 4u);
  for (Cpu cpu = 0; cpu < 200; ++cpu)
    EXPECT_EQ(s.bank(cpu / 64) >> (cpu % 64) & 1, cpu % 3 == 0 && cpu != 63 && cpu != 66) << cpu;
}

TEST(Filtered, ARemoteTargetInThisCpusWordOrInAnotherCounts) {
  for (Cpu remote : {Cpu{65}, Cpu{67}, Cpu{0}, Cpu{130}}) {
    Sender s = filtered(hyperv(140)).members({66, remote}).send(66);
    EXPECT_TRUE(s.hypercall()) << remote;
  }
  EXPECT_TRUE(filtered(hyperv(140)).members({66}).send(66).native());
  EXPECT_TRUE(filtered(hyperv(140)).members({2}).send(66).hypercall()) << "the same bit below";
}

}  // namespace
}  // namespace hvtlb
