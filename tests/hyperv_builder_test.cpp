// Hyper-V's builder before the fix, clause by clause as the specification numbers them.
#include <gtest/gtest.h>

#include "tests/sender.h"

namespace hvtlb {
namespace {

using test::hyperv;
using test::kVa;
using test::Sender;

/// The eras before the fix; the builder names lazy CPUs in those that take the whole mask.
class HypervBuilder : public testing::TestWithParam<std::string_view> {
 protected:
  static Sender sender(const MachineShape& shape) { return Sender(GetParam(), shape); }
  static bool whole_mask() {
    return GetParam() == "v6.1" || GetParam() == "v6.1.129" || GetParam() == "v6.1.192";
  }
  /// `cpus` without the lazy ones, where this era skips them.
  static u64 but_lazy(u64 cpus, u64 lazy) { return whole_mask() ? cpus : cpus & ~lazy; }
};

TEST_P(HypervBuilder, Clause1NoHypercallPageOrNoInputPageIsNative) {
  MachineShape shape = hyperv(4);
  shape.hypercall_page = false;
  EXPECT_TRUE(sender(shape).members({0, 1}).send().native());
  shape.hypercall_page = true;
  shape.input_pages = false;
  Sender no_page = sender(shape).members({0, 1}).send();
  EXPECT_TRUE(no_page.native());
  EXPECT_FALSE(no_page.policy.called);
  EXPECT_EQ(no_page.native_targets(), 0b11u);
}

TEST_P(HypervBuilder, Clause2AnMmNamesItsPgdWithoutTheLowBits) {
  Sender s = sender(hyperv(4)).members({0, 1});
  s.guest.mm(s.target).pgd = 0xfff0'1234'5678'9fff;
  s.send();
  EXPECT_EQ(s.address_space(), 0x0000'1234'5678'9000u);
  EXPECT_EQ(s.flags(), 0u);
}

TEST_P(HypervBuilder, Clause2NoMmMeansAllAddressSpaces) {
  Sender s = sender(hyperv(4)).members({0, 1}).range(0, kTlbFlushAll);
  s.info.has_mm = false;
  s.send();
  EXPECT_EQ(s.address_space(), 0u);
  EXPECT_EQ(s.flags(), 2u | 4u);
  EXPECT_EQ(s.code(), 2u);
}

TEST_P(HypervBuilder, Clause3TheMaskEqualsThePresentCpusAllProcessors) {
  Sender s = sender(hyperv(3)).members({0, 1, 2}).lazy({1, 2}).send();
  EXPECT_EQ(s.flags(), 1u);
  EXPECT_EQ(s.processor_mask(), 0u);
  EXPECT_EQ(s.code(), 3u) << "a plain call";
}

TEST_P(HypervBuilder, Clause3HoldsForAnyNumberOfVpsKnownOrNot) {
  MachineShape shape = hyperv(130);
  shape.vp_index.assign(130, kVpInvalid);
  shape.hv_max_vp_index = 4999;
  Sender s = sender(shape).all_members().send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.flags(), 1u);
  EXPECT_FALSE(s.ex());
}

TEST_P(HypervBuilder, Clause3LooksAtPresentNotAtOnline) {
  MachineShape shape = hyperv(4);
  shape.present = CpuMask(4);
  for (Cpu cpu : {0u, 1u, 2u}) shape.present->set(cpu);
  shape.online = CpuMask(4);
  shape.online->set(0);
  EXPECT_EQ(sender(shape).members({0, 1, 2}).send().flags(), 1u);
  EXPECT_EQ(sender(shape).members({0}).send().flags(), 0u);
  EXPECT_EQ(sender(shape).members({0, 1, 2, 3}).send().processor_mask(), 0b1111u);
}

TEST_P(HypervBuilder, Clause4TheMaskWithoutLazyCpus) {
  Sender s = sender(hyperv(6)).members({0, 1, 2, 4}).lazy({1, 3, 4}).send();
  EXPECT_EQ(s.processor_mask(), but_lazy(0b10111, 0b10010));
  EXPECT_EQ(s.flags(), 0u);
}

TEST_P(HypervBuilder, Clause4FreedTablesReachLazyCpusToo) {
  Sender s = sender(hyperv(6)).members({0, 1, 2, 4}).lazy({1, 3, 4});
  s.info.freed_tables = true;
  EXPECT_EQ(s.send().processor_mask(), 0b10111u);
}

TEST_P(HypervBuilder, Clause4LoadedMmAndTheTrimFlagAreNotLookedAt) {
  Sender s = sender(hyperv(6)).members({0, 1, 2, 3});
  s.loaded({1}, s.other).loaded({2}, kInitMm).loaded({3}, kLoadedMmSwitching);
  s.info.trim_cpumask = true;
  s.send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.processor_mask(), 0b1111u);
}

TEST_P(HypervBuilder, Clause4TheLastCpuDecidesForExLazyOrNot) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 1, 64, 2};
  EXPECT_EQ(sender(shape).members({0, 2}).lazy({2}).send().code(), 0x14u);
  EXPECT_EQ(sender(shape).members({0, 1, 3}).send().code(), 3u);
  shape.vp_index = {0, 1, 63, 2};
  EXPECT_EQ(sender(shape).members({0, 2}).send().code(), 3u);
}

TEST_P(HypervBuilder, Clause4AHighVpInTheMiddleTurnsToEx) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 64, 2, 3};
  Sender s = sender(shape).members({0, 1, 2}).send();
  EXPECT_EQ(s.code(), 0x14u);
  EXPECT_EQ(s.banks_mask(), 3u);
  EXPECT_EQ(s.bank(0), 0b101u);
  EXPECT_EQ(s.bank(1), 1u);
  EXPECT_EQ(sender(shape).members({0, 1, 2}).lazy({1}).send().ex(), whole_mask());
}

TEST_P(HypervBuilder, Clause4AnInvalidVpIsNative) {
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, kVpInvalid, 2, kVpInvalid, 4};
  Sender middle = sender(shape).members({0, 1, 2}).send();
  EXPECT_TRUE(middle.native());
  EXPECT_FALSE(middle.policy.called);
  EXPECT_EQ(middle.native_targets(), 0b111u);
  EXPECT_TRUE(sender(shape).members({0, 3}).send().native()) << "the last one";
  EXPECT_EQ(sender(shape).members({0, 1, 2}).lazy({1}).send().native(), whole_mask());
  Sender lazy_last = sender(shape).members({0, 3}).lazy({3}).send();
  EXPECT_EQ(lazy_last.native(), whole_mask());
  EXPECT_EQ(lazy_last.code(), whole_mask() ? 0u : 3u) << "an unknown VP is not a high one";
}

TEST_P(HypervBuilder, Clause4NobodyLeftMeansNoCall) {
  Sender s = sender(hyperv(4)).members({1, 2}).lazy({1, 2}).send();
  EXPECT_EQ(s.none(), !whole_mask());
  EXPECT_TRUE(sender(hyperv(4)).send().none()) << "an empty mask has no last CPU";
}

TEST_P(HypervBuilder, Clause5WithoutTheHintIsNative) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 64, 2, 3};
  shape.ex_processor_masks_recommended = false;
  Sender s = sender(shape).members({0, 1}).send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.called);
  EXPECT_TRUE(sender(shape).members({0, 2}).send().hypercall()) << "plain calls need no hint";
}

TEST_P(HypervBuilder, Clause5SparseSetUpToTheHighestBank) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 1, 200, 319};
  Sender s = sender(shape).members({1, 2}).send();
  EXPECT_EQ(s.code(), 0x14u);
  EXPECT_EQ(s.word(2), 0u) << "format sparse";
  EXPECT_EQ(s.header_words(), 4u);
  EXPECT_EQ(s.banks_mask(), 0xfu) << "the empty banks inside are sent";
  EXPECT_EQ(s.bank(0), 2u);
  EXPECT_EQ(s.bank(1), 0u);
  EXPECT_EQ(s.bank(2), 0u);
  EXPECT_EQ(s.bank(3), u64{1} << 8);
  EXPECT_EQ(s.gva(0), kVa);
  EXPECT_EQ(s.flags(), 0u);
}

TEST_P(HypervBuilder, Clause5NobodyInAnExCallIsOneEmptyBank) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 1, 2, 64};
  Sender s = sender(shape).members({1, 3}).lazy({1, 3}).send();
  ASSERT_TRUE(s.hypercall());
  EXPECT_EQ(s.header_words(), whole_mask() ? 2u : 1u);
  EXPECT_EQ(s.bank(0), but_lazy(0b10, 0b10));
}

TEST_P(HypervBuilder, Clause5AnInvalidVpIsNativeInAnExCallToo) {
  MachineShape shape = hyperv(5);
  shape.vp_index = {0, kVpInvalid, 2, 64, 65};
  Sender s = sender(shape).members({0, 1, 3}).send();
  EXPECT_TRUE(s.native());
  EXPECT_FALSE(s.policy.called);
}

TEST_P(HypervBuilder, Clause5BanksOfALargerCallBeforeDoNotLeak) {
  MachineShape shape = hyperv(300);
  Sender s = sender(shape).all_members();
  s.guest.mm(s.target).cpumask[4] &= ~(u64{1} << 40);  // all but CPU 296
  s.send();
  EXPECT_EQ(s.header_words(), 5u);
  EXPECT_EQ(s.bank(3), ~u64{0});
  for (u64& word : s.guest.mm(s.target).cpumask) word = 0;
  s.members({3, 299}).send();
  EXPECT_EQ(s.header_words(), 5u);
  EXPECT_EQ(s.bank(0), 8u);
  for (u32 at : {1u, 2u, 3u}) EXPECT_EQ(s.bank(at), 0u);
  EXPECT_EQ(s.bank(4), u64{1} << 43);
}

TEST_P(HypervBuilder, Clause5BeyondSixtyFourBanksTheSetIsEmpty) {
  MachineShape shape = hyperv(4);
  shape.vp_index = {0, 1, 2, 64};
  shape.hv_max_vp_index = 4096;
  Sender s = sender(shape).members({1, 3}).send();
  EXPECT_TRUE(s.hypercall());
  EXPECT_EQ(s.header_words(), 0u);
  EXPECT_EQ(s.banks_mask(), 0u);
  EXPECT_EQ(s.word(4), kVa) << "the list follows at once";
  for (u64& word : s.guest.mm(s.target).cpumask) word = 0;
  s.members({1, 2}).send();
  EXPECT_EQ(s.word(3), kVa) << "a plain list leaves its entry where the banks' mask stands";
  EXPECT_EQ(s.members({3}).send().banks_mask(), 0u);
}

TEST_P(HypervBuilder, Clause6TheWholeSpace) {
  Sender s = sender(hyperv(4)).members({0, 1}).range(0, kTlbFlushAll).send();
  EXPECT_EQ(s.code(), 2u);
  EXPECT_EQ(s.reps(), 0u);
  EXPECT_EQ(s.flags(), 4u);
  MachineShape shape = hyperv(3);
  shape.vp_index = {0, 64, 1};
  Sender ex = sender(shape).members({0, 1}).range(0, kTlbFlushAll).send();
  EXPECT_EQ(ex.code(), 0x13u);
  EXPECT_EQ(ex.header_words(), 2u);
  EXPECT_EQ(ex.flags(), 4u);
}

TEST_P(HypervBuilder, Clause6CapacityPlain) {
  constexpr u64 kUnit = u64{16} << 20;
  Sender s = sender(hyperv(4)).members({0, 1});
  s.range(kVa, kVa + 509 * kUnit).send();
  EXPECT_EQ(s.code(), 3u);
  EXPECT_EQ(s.reps(), 509u);
  s.range(kVa, kVa + 510 * kUnit - 1).send();
  EXPECT_EQ(s.reps(), 510u) << "the floor, where the list needs the ceiling";
  s.range(kVa, kVa + 510 * kUnit).send();
  EXPECT_EQ(s.code(), 2u);
  EXPECT_EQ(s.flags(), 0u) << "without the non-global flag";
}

TEST_P(HypervBuilder, Clause6CapacityEx) {
  constexpr u64 kUnit = u64{16} << 20;
  MachineShape shape = hyperv(3);
  shape.vp_index = {0, 130, 1};
  Sender s = sender(shape).members({0, 1});
  EXPECT_EQ(s.range(kVa, kVa + 506 * kUnit - 1).send().reps(), 506u);
  EXPECT_EQ(s.range(kVa, kVa + 506 * kUnit - 1).send().code(), 0x14u);
  EXPECT_EQ(s.range(kVa, kVa + 506 * kUnit).send().code(), 0x13u);
  EXPECT_EQ(s.flags(), 0u);
}

TEST_P(HypervBuilder, Clause6OddRanges) {
  Sender s = sender(hyperv(4)).members({0, 1});
  EXPECT_EQ(s.range(kVa, 0).send().code(), 3u) << "end = 0 is never too long";
  EXPECT_EQ(s.reps(), 1u);
  EXPECT_EQ(s.range(kVa, kVa).send().reps(), 1u);
  EXPECT_EQ(s.range(kVa, kVa - kPageSize).send().code(), 2u) << "reversed looks huge";
  EXPECT_EQ(s.flags(), 0u);
  EXPECT_EQ(s.range(0xfffffffffffff000, 0x1000).send().reps(), 1u) << "wraps";
  EXPECT_EQ(s.gva(0), 0xfffffffffffff000u);
}

TEST_P(HypervBuilder, Clause7AnyOtherStatusIsNative) {
  for (u16 status : {u16{1}, u16{2}, u16{5}, u16{0xffff}}) {
    Sender s = sender(hyperv(4)).members({0, 1});
    s.host_status = status;
    s.send();
    EXPECT_TRUE(s.native()) << status;
    EXPECT_TRUE(s.policy.called);
    EXPECT_EQ(s.native_targets(), 0b11u);
    EXPECT_EQ(s.code(), 3u);
  }
}

TEST_P(HypervBuilder, Clause7ThereIsNoSeparateLocalFlush) {
  Sender s = sender(hyperv(4)).members({0, 1}).send(0);
  EXPECT_EQ(s.processor_mask(), 0b11u);
  EXPECT_EQ(sender(hyperv(4)).members({1}).send(0).processor_mask(), 0b10u);
}

INSTANTIATE_TEST_SUITE_P(Eras, HypervBuilder,
                         testing::Values("v6.1", "v6.4", "v6.1.129", "v6.12.29", "v6.12.117",
                                         "v6.1.192", "v6.14", "v6.14.7", "v6.15", "v6.17.5"));

}  // namespace
}  // namespace hvtlb
