// Temporary mms: text poking and EFI calls.
#include <gtest/gtest.h>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::native;

TEST(TemporaryMm, LazyBitErasClearTheTemporaryBitByHand) {
  for (const Era& era : eras()) {
    Box box(era.name, native(2));
    const MmId mm = box.mm();
    const MmId poking = box.mm();
    box.run(0, mm);
    box.use_temporary(0, poking);
    EXPECT_EQ(box.loaded(0), poking);
    EXPECT_EQ(box.mask(poking), 1u);
    EXPECT_GT(box.tlb(0).irqs_off, 0u) << "interrupts stay off inside";
    box.unuse_temporary(0);
    EXPECT_EQ(box.loaded(0), mm);
    EXPECT_EQ(box.mask(poking), 0u) << era.name;
    EXPECT_EQ(box.mask(mm), 1u);
    EXPECT_EQ(box.tlb(0).irqs_off, 0u);
    EXPECT_EQ(box.violated(), "") << era.name;
  }
}

TEST(TemporaryMm, WithoutTheExplicitClearTheBitStays) {
  Rules rules = test::rules_of("v6.17.5");
  rules.unuse_clears_bit = false;
  Box box(rules, native(1));
  const MmId poking = box.mm();
  box.use_temporary(0, poking);
  box.unuse_temporary(0);
  EXPECT_EQ(box.mask(poking), 1u);
}

TEST(TemporaryMm, ALazyCpuLeavesItsMmFirst) {
  for (const Era& era : eras()) {
    Box box(era.name, native(1));
    const MmId mm = box.mm();
    const MmId poking = box.mm();
    box.run(0, mm);
    box.lazy(0);
    box.use_temporary(0, poking);
    EXPECT_FALSE(box.is_lazy(0));
    box.unuse_temporary(0);
    EXPECT_EQ(box.loaded(0), kInitMm) << "not a real user of the borrowed mm: " << era.name;
    EXPECT_FALSE(box.is_lazy(0));
  }
}

TEST(TemporaryMm, FromInitMmBackToInitMm) {
  Box box("v6.17.5", native(1));
  const MmId poking = box.mm();
  box.use_temporary(0, poking);
  box.unuse_temporary(0);
  EXPECT_EQ(box.loaded(0), kInitMm);
  EXPECT_EQ(box.machine.guest().mm(kInitMm).cpumask[0], 0u);
}

TEST(TemporaryMm, AFlushThatMissedTheCpuIsCaughtUpOnReturn) {
  for (const Era& era : eras()) {
    Box box(era.name, native(3));
    const MmId mm = box.mm();
    const MmId poking = box.mm();
    box.run(0, mm);
    box.run(1, mm);
    box.run(2, mm);
    box.use_temporary(1, poking);
    if (era.rules.prev_bit == PrevBit::kLeftBehind && !era.rules.predicate_loaded_mm) continue;
    box.flush(0, mm);
    EXPECT_EQ(box.sent(), 0b101u) << era.name;
    box.unuse_temporary(1);
    box.touch(1);
    EXPECT_EQ(box.slot_gen(1), 1u) << era.name;
    EXPECT_EQ(box.violated(), "") << era.name;
  }
}

TEST(TemporaryMm, TheTemporaryMmIsExemptFromMembership) {
  Box box("v6.17.5", native(1));
  const MmId poking = box.mm();
  box.use_temporary(0, poking);
  box.machine.guest().mm(poking).cpumask[0] = 0;
  EXPECT_FALSE(check_p4(box.machine.guest(), box.machine.truth(), 0).has_value());
}

}  // namespace
}  // namespace hvtlb
