// The native path: who gets an IPI, and that the mask is read live.
#include "flush/native.h"

#include <gtest/gtest.h>

#include "tests/sender.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::native;
using test::Sender;

TEST(Native, EveryErasPredicateOverTheMask) {
  for (const Era& era : eras()) {
    Sender sender(era.name, native(6));
    sender.members({0, 1, 2, 3, 4}).lazy({1}).loaded({2}, sender.other);
    sender.loaded({3}, kLoadedMmSwitching).send(5);
    EXPECT_TRUE(sender.native());
    u64 want = 0b10001;
    if (!era.rules.predicate_loaded_mm) want |= 0b01100;
    if (era.rules.predicate_switching) want |= 0b01000;
    EXPECT_EQ(sender.native_targets(), want) << era.name;
  }
}

TEST(Native, FreedTablesReachEveryOnlineMember) {
  for (const Era& era : eras()) {
    Sender sender(era.name, native(6));
    sender.members({0, 1, 2, 3}).lazy({1}).loaded({2}, sender.other);
    sender.guest.cpu_online_mask[0] &= ~u64{0b1000};
    sender.info.freed_tables = true;
    EXPECT_EQ(sender.send().native_targets(), 0b0111u) << era.name;
  }
}

TEST(Native, OnlyOnlineCpus) {
  Sender sender("v6.17.5", native(130));
  sender.members({0, 70, 129});
  sender.guest.cpu_online_mask[1] &= ~(u64{1} << 6);
  sender.send();
  EXPECT_FALSE(sender.policy.targets.test(70));
  EXPECT_TRUE(sender.policy.targets.test(129));
  EXPECT_EQ(sender.policy.targets.count(), 2u);
}

TEST(Native, TheInitiatorTakesPartOnlyAsAMemberThatPasses) {
  Sender sender("v6.17.5", native(3));
  sender.members({1});
  EXPECT_EQ(sender.send(0).native_targets(), 0b010u) << "a foreign initiator";
  sender.members({0});
  EXPECT_EQ(sender.send(0).native_targets(), 0b011u);
  EXPECT_EQ(sender.lazy({0}).send(0).native_targets(), 0b010u) << "lazy on its own mm";
}

TEST(Native, NobodyIsStillATrip) {
  Sender sender("v6.17.5", native(3));
  sender.send();
  EXPECT_TRUE(sender.native());
  EXPECT_EQ(sender.native_targets(), 0u);
}

/// The native path of CPU 0 over a mask that is `first` at its first look and `then` afterwards.
std::string flush_changing(u64 first, u64 then) {
  Guest guest(native(3));
  guest.new_mm();
  guest.mm(1).cpumask[0] = first;
  for (CpuTlbStateShared& shared : guest.cpu_tlbstate_shared) shared.loaded_mm = 1;
  test::TracePolicy mem(guest);
  int looks = 0;
  mem.before = [&](const std::string& what) {
    if (what == "load mask1" && ++looks == 2) guest.mm(1).cpumask[0] = then;
  };
  Kernel<test::TracePolicy> k{guest, test::rules_of("v6.17.5"), mem};
  FlushTlbInfo info;
  info.mm = 1;
  info.has_mm = true;
  native_flush_tlb_multi(k, 0, guest.mm(1).cpumask, info);
  return mem.text();
}

TEST(Native, WhetherThisCpuTakesPartIsDecidedOnEntryTheOthersLater) {
  EXPECT_NE(flush_changing(0b011, 0b110).find("ipi 0x7"), std::string::npos);
  EXPECT_NE(flush_changing(0b010, 0b101).find("ipi 0x4"), std::string::npos);
}

TEST(Native, TheTrimFlagTravelsWithTheRequest) {
  Sender sender("v6.17.5", native(3));
  sender.members({0, 1}).loaded({1}, sender.other);
  sender.info.trim_cpumask = true;
  sender.send();
  EXPECT_TRUE(sender.policy.native_trim);
  EXPECT_EQ(sender.native_targets(), 0b11u);
}

}  // namespace
}  // namespace hvtlb
