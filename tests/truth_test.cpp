// The hardware truth, rule by rule: what fills, what empties, what a host's flush reaches.
#include "model/truth.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

constexpr u64 kVa = 0x7f0000000000;
constexpr AddressRange kPage0{kVa, kVa + 0x1000};
constexpr AddressRange kPage1{kVa + 0x1000, kVa + 0x2000};
constexpr AddressRange kAll{0, kTlbFlushAll};
constexpr u64 kKeep = u64{1} << 63;

/// CPU 0 runs mm 1 under PCID 2; CPU 1 is on init_mm.
class TruthTest : public testing::Test {
 protected:
  TruthTest() : truth(2) {
    truth.mm_created(1);
    truth.mm_created(2);
    truth.write_cr3(0, 0x100002);
    truth.set_uses(0, 1);
  }
  /// A page-table change, and a flush of it that has returned.
  void change_and_require(AddressRange range, bool freed_tables = false) {
    truth.pte_change(1, range, freed_tables);
    truth.flush_requested(1, ++gen, range, freed_tables);
    truth.flush_returned(1, gen);
  }
  bool old(AddressRange range) const { return truth.may_hold_old(0, 1, range); }

  Truth truth;
  u64 gen = 0;
};

TEST_F(TruthTest, AChangeLeavesOldTranslationsBehind) {
  EXPECT_FALSE(old(kAll));
  truth.pte_change(1, kPage0, false);
  EXPECT_TRUE(old(kPage0));
  EXPECT_TRUE(old(kAll));
  EXPECT_FALSE(old(kPage1));
  EXPECT_FALSE(truth.may_hold_old(1, 1, kAll)) << "CPU 1 does not select the mm";
  EXPECT_FALSE(truth.usable_stale_page(0)) << "nobody asked for a flush";
}

TEST_F(TruthTest, ARequestThatHasNotReturnedRequiresNothing) {
  truth.pte_change(1, kPage0, false);
  truth.flush_requested(1, 1, kPage0, false);
  EXPECT_FALSE(truth.usable_stale_page(0));
  truth.flush_returned(1, 1);
  EXPECT_EQ(truth.usable_stale_page(0), kVa);
}

TEST_F(TruthTest, ChangesAfterTheIncrementAreNotRequired) {
  truth.flush_requested(1, 1, kPage0, false);
  truth.pte_change(1, kPage0, false);
  truth.flush_returned(1, 1);
  EXPECT_FALSE(truth.usable_stale_page(0));
  EXPECT_TRUE(old(kPage0));
}

TEST_F(TruthTest, OnlyThePagesOfTheRequestAreRequired) {
  truth.pte_change(1, kPage0, false);
  truth.pte_change(1, kPage1, false);
  truth.flush_requested(1, 1, kPage1, false);
  truth.flush_returned(1, 1);
  EXPECT_EQ(truth.usable_stale_page(0), kVa + 0x1000);
  truth.invlpg(0, kVa + 0x1fff, 12);
  EXPECT_FALSE(truth.usable_stale_page(0));
  EXPECT_TRUE(old(kPage0));
}

TEST_F(TruthTest, InvlpgDropsOnePageOfItsSizeAndAllWalks) {
  change_and_require(kPage0, true);
  EXPECT_EQ(truth.walkable_freed_table(0), kVa);
  truth.invlpg(0, kVa + 0x1000, 12);
  EXPECT_TRUE(old(kPage0));
  EXPECT_FALSE(truth.walkable_freed_table(0)) << "the paging-structure cache goes as a whole";
  truth.invlpg(0, kVa + 0x1ff000, 21);
  EXPECT_FALSE(old(kPage0)) << "a 2 MiB page";
}

TEST_F(TruthTest, AHugePageGoesAsAWholeWhicheverOfItsAddressesIsInvalidated) {
  truth.pte_change(1, {kVa, kVa + 0x400000}, false, 21);
  truth.invlpg(0, kVa + 0x5000, 12);
  EXPECT_FALSE(old({kVa, kVa + 0x200000}));
  EXPECT_TRUE(old({kVa + 0x200000, kVa + 0x400000}));
}

TEST_F(TruthTest, AListReachesTheWalksOfTheTablesItTouches) {
  const AddressRange tables{kVa, kVa + 0x400000};
  change_and_require(tables, true);
  truth.host_flush(0, HostScope::kWholeTlb, 0, false, {&kPage1, 1});
  EXPECT_EQ(truth.walkable_freed_table(0), kVa + 0x200000);
  const AddressRange second{kVa + 0x3ff000, kVa + 0x400000};
  truth.host_flush(0, HostScope::kWholeTlb, 0, false, {&second, 1});
  EXPECT_FALSE(truth.walkable_freed_table(0));
  EXPECT_TRUE(truth.usable_stale_page(0)) << "pages are another matter";
}

TEST_F(TruthTest, ACr3WriteEmptiesItsAsidUnlessToldToKeepIt) {
  change_and_require(kPage0, true);
  truth.write_cr3(0, 0x100002 | kKeep);
  EXPECT_TRUE(truth.usable_stale_page(0));
  EXPECT_TRUE(truth.walkable_freed_table(0));
  truth.write_cr3(0, 0x100003);
  EXPECT_FALSE(truth.usable_stale_page(0));
  truth.write_cr3(0, 0x100002 | kKeep);
  EXPECT_TRUE(truth.usable_stale_page(0)) << "an ASID that is not selected keeps what it had";
  truth.write_cr3(0, 0x100002);
  EXPECT_FALSE(truth.usable_stale_page(0));
  EXPECT_FALSE(truth.walkable_freed_table(0));
}

TEST_F(TruthTest, ASelectedMmFillsAgainAtOnce) {
  truth.pte_change(1, kPage0, false);
  truth.write_cr3(0, 0x100002);
  truth.pte_change(1, kPage0, false);
  EXPECT_TRUE(old(kPage0)) << "filled between the flush and the second change";
}

TEST_F(TruthTest, AnAsidOfAnotherMmIsAlwaysOld) {
  truth.write_cr3(0, 0x200003);
  truth.write_cr3(0, 0x100003 | kKeep);
  EXPECT_TRUE(old(kPage0));
  EXPECT_EQ(truth.usable_stale_page(0), 0u);
  EXPECT_EQ(truth.walkable_freed_table(0), 0u);
}

TEST_F(TruthTest, AnAsidOfADeadMmInTheSameSlotIsOld) {
  truth.mm_created(1);
  EXPECT_EQ(truth.usable_stale_page(0), 0u);
}

TEST_F(TruthTest, CodeThatUsesNoMmCannotUseAStalePageButCanWalk) {
  change_and_require(kPage0, true);
  truth.set_uses(0, kInitMm);
  EXPECT_FALSE(truth.usable_stale_page(0));
  EXPECT_TRUE(truth.walkable_freed_table(0));
  truth.write_cr3(0, 0x1001);
  EXPECT_FALSE(truth.walkable_freed_table(0));
}

TEST_F(TruthTest, SelectedByFollowsCr3) {
  EXPECT_EQ(truth.selected_by(1).to_hex(), "0x1");
  EXPECT_EQ(truth.selected_by(0).to_hex(), "0x2");
  truth.write_cr3(0, 0x200003);
  EXPECT_TRUE(truth.selected_by(1).none());
  EXPECT_TRUE(truth.selects(0, 2));
  truth.reset_cpu(0);
  EXPECT_TRUE(truth.selects(0, 0));
  EXPECT_EQ(truth.uses(0), kInitMm);
}

TEST_F(TruthTest, GenerationHonesty) {
  truth.pte_change(1, kPage0, false);
  truth.flush_requested(1, 1, kPage0, false);
  truth.pte_change(1, kPage1, false);
  truth.flush_requested(1, 2, kPage1, false);
  EXPECT_FALSE(truth.behind_generation(0, 2, 1, 0));
  EXPECT_EQ(truth.behind_generation(0, 2, 1, 1), kVa);
  truth.invlpg(0, kVa, 12);
  EXPECT_FALSE(truth.behind_generation(0, 2, 1, 1));
  EXPECT_EQ(truth.behind_generation(0, 2, 1, 2), kVa + 0x1000);
  EXPECT_FALSE(truth.behind_generation(0, 9, 1, 2)) << "nothing was ever cached there";
  truth.write_cr3(0, 0x100002);
  EXPECT_FALSE(truth.behind_generation(0, 2, 1, 2));
}

struct Reach {
  HostScope scope;
  u64 space;
  bool selected, unselected, other_mm;  // which caches are flushed
};

TEST_F(TruthTest, HostScopes) {
  // PCID 2: mm 1, selected. PCID 3: mm 1 as well. PCID 4: mm 2.
  const Reach table[] = {
      {HostScope::kWholeTlb, 0x100000, true, true, true},
      {HostScope::kWholeTlb, 0x900000, true, true, true},
      {HostScope::kAddressSpace, 0x100000, true, true, false},
      {HostScope::kAddressSpace, 0x200000, false, false, true},
      {HostScope::kAddressSpace, kTlbFlushAll, true, true, true},
      {HostScope::kIfCr3Matches, 0x100000, true, false, false},
      {HostScope::kIfCr3Matches, 0x200000, false, false, false},
      {HostScope::kIfCr3Matches, kTlbFlushAll, true, false, false},
      {HostScope::kCurrentPcid, 0x200000, true, false, false},
  };
  const auto stale = [](Truth& t, u64 cr3, MmId mm) {
    t.write_cr3(0, cr3 | kKeep);
    return t.may_hold_old(0, mm, kAll);
  };
  for (const Reach& row : table)
    for (bool everything : {false, true}) {
      Truth t(1);
      t.mm_created(1);
      t.mm_created(2);
      for (u64 cr3 : {0x100003u, 0x200004u, 0x100002u}) t.write_cr3(0, cr3);
      t.pte_change(1, kPage0, false);
      t.pte_change(2, kPage0, false);
      const AddressRange range = kPage0;
      t.host_flush(0, row.scope, row.space, everything, {&range, 1});
      EXPECT_EQ(!t.may_hold_old(0, 1, kAll), row.selected);
      EXPECT_EQ(!stale(t, 0x100003, 1), row.unselected);
      EXPECT_EQ(!stale(t, 0x200004, 2), row.other_mm);
    }
}

TEST_F(TruthTest, ForgottenChangesCountAsStale) {
  for (u64 at = 0; at < 2 * kTruthHistory; ++at) truth.pte_change(1, kPage1, false);
  EXPECT_TRUE(old(kPage0)) << "nobody remembers that page 0 never changed";
  truth.write_cr3(0, 0x100002);
  EXPECT_FALSE(old(kAll));
}

TEST_F(TruthTest, WhetherToEmptyAPcidIsAWaste) {
  const u64 loaded = 0x100002;
  EXPECT_TRUE(truth.holds_only_new(0, loaded));
  EXPECT_FALSE(truth.holds_only_new(0, 0x100003)) << "nothing under that PCID";
  EXPECT_FALSE(truth.holds_only_new(0, 0x200002)) << "another mm's";
  EXPECT_FALSE(truth.holds_only_new(1, loaded)) << "another CPU's";
  truth.pte_change(1, kPage0, false);
  EXPECT_FALSE(truth.holds_only_new(0, loaded));
  truth.write_cr3(0, loaded);
  EXPECT_TRUE(truth.holds_only_new(0, loaded));
}

TEST_F(TruthTest, WhatIsForgottenLaterDoesNotCountAgainstWhatWasFlushedBefore) {
  truth.pte_change(1, kPage0, false);
  truth.flush_requested(1, 1, kPage0, false);
  truth.write_cr3(0, 0x100002);
  truth.flush_returned(1, 1);
  for (u32 change = 0; change <= kTruthHistory; ++change) truth.pte_change(1, kPage1, false);
  EXPECT_EQ(truth.behind_generation(0, 2, 1, 1), std::nullopt);
  EXPECT_FALSE(truth.usable_stale_page(0));
  EXPECT_TRUE(old(kPage1));
}

TEST_F(TruthTest, AnyNumberOfPartialFlushesLeavesNothingOldBehind) {
  for (u64 round = 0; round < 5000; ++round) {
    const u64 va = kVa + round % 7 * 0x1000;
    change_and_require({va, va + 0x1000});
    truth.invlpg(0, va, 12);
    ASSERT_FALSE(truth.usable_stale_page(0)) << round;
    ASSERT_FALSE(old(kAll)) << round;
  }
}

TEST_F(TruthTest, SoManyChangesAreRememberedAndNotOneLess) {
  truth.pte_change(1, kPage1, false);
  for (u32 n = 1; n < kTruthHistory; ++n) truth.pte_change(1, kPage0, false);
  truth.flush_requested(1, 1, kPage0, false);
  truth.invlpg(0, kPage0.start, kPageShift);
  truth.flush_returned(1, 1);
  EXPECT_FALSE(truth.usable_stale_page(0)) << "the old change of another page is still known";
}

TEST_F(TruthTest, OneMoreChangeIsForgottenAndTheCacheTakenForStale) {
  truth.pte_change(1, kPage1, false);
  for (u32 n = 0; n < kTruthHistory; ++n) truth.pte_change(1, kPage0, false);
  truth.flush_requested(1, 1, kPage0, false);
  truth.invlpg(0, kPage0.start, kPageShift);
  truth.flush_returned(1, 1);
  EXPECT_TRUE(truth.usable_stale_page(0));
}

TEST_F(TruthTest, StatesThatDifferAreWrittenDifferently) {
  const auto state_of = [](const auto& change) {
    Truth other(1);
    other.mm_created(1);
    other.mm_created(2);
    other.write_cr3(0, 0x100002);
    other.write_cr3(0, 0x200005);
    change(other);
    std::vector<u64> state;
    other.append_state(state);
    return state;
  };
  std::vector<std::vector<u64>> states;
  for (const u8 shift : {u8{12}, u8{13}})
    for (const bool freed : {false, true})
      states.push_back(state_of([&](Truth& t) { t.pte_change(1, kPage0, freed, shift); }));
  for (const bool freed : {false, true})
    for (const bool returned : {false, true})
      states.push_back(state_of([&](Truth& t) {
        t.flush_requested(1, 1, kPage0, freed);
        if (returned) t.flush_returned(1, 1);
      }));
  states.push_back(state_of([&](Truth& t) {
    t.flush_requested(1, 1, kPage0, true);
    t.tables_freed(1, 1);
  }));
  // The cache of the last PCID, behind others that are empty.
  states.push_back(state_of([&](Truth& t) { t.pte_change(2, kPage0, false); }));
  states.push_back(state_of([&](Truth& t) {
    t.pte_change(2, kPage0, false);
    t.write_cr3(0, 0x200005);
  }));
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(states[a], states[b]) << a << " " << b;
}

TEST_F(TruthTest, FreedTablesMayNotBeWalkedFromTheMomentTheyAreHandedBack) {
  truth.pte_change(1, kPage0, true);
  truth.flush_requested(1, 1, kPage0, true);
  EXPECT_FALSE(truth.walkable_freed_table(0));
  truth.tables_freed(1, 1);
  EXPECT_TRUE(truth.walkable_freed_table(0));
  EXPECT_FALSE(truth.usable_stale_page(0)) << "the flush has not returned";
  truth.tables_freed(1, 9);  // no such request
  truth.flush_requested(1, 2, kPage0, false);
  truth.tables_freed(1, 2);
  truth.invlpg(0, kPage0.start, kPageShift);
  EXPECT_FALSE(truth.walkable_freed_table(0));
}

TEST_F(TruthTest, ARequestCanCoverAChangeThatArrivesBehindIt) {
  truth.flush_requested(1, 1, kPage0, false);
  truth.pte_change(1, kPage0, false);
  truth.flush_returned(1, 1);
  EXPECT_FALSE(truth.usable_stale_page(0)) << "the change came later";
  truth.flush_requested(1, 2, kPage0, false);
  truth.pte_change(1, kPage0, false);
  truth.request_covers_newest(1, 2);
  truth.request_covers_newest(1, 9);  // no such request
  truth.flush_returned(1, 2);
  EXPECT_TRUE(truth.usable_stale_page(0));
}

TEST_F(TruthTest, ABroadcastEmptiesOnePcidOrAllWhateverIsLoaded) {
  const auto stale = [&] {
    change_and_require(kPage0);
    EXPECT_TRUE(truth.usable_stale_page(0));
  };
  stale();
  truth.broadcast(0, false, 3, kAll);
  EXPECT_TRUE(truth.usable_stale_page(0)) << "another PCID";
  truth.broadcast(0, false, 2, kPage1);
  EXPECT_TRUE(truth.usable_stale_page(0)) << "another page";
  truth.broadcast(1, false, 2, kAll);
  EXPECT_TRUE(truth.usable_stale_page(0)) << "another CPU";
  truth.broadcast(0, false, 2, kPage0);
  EXPECT_FALSE(truth.usable_stale_page(0));
  stale();
  truth.broadcast(0, true, 0, kAll);
  EXPECT_FALSE(truth.usable_stale_page(0));
  stale();
  truth.write_cr3(0, 0x200003);
  truth.set_uses(0, 2);
  truth.broadcast(0, false, 2, kAll);
  truth.write_cr3(0, 0x100002 | kKeep);
  truth.set_uses(0, 1);
  EXPECT_FALSE(truth.usable_stale_page(0)) << "while it was not selected";
}

}  // namespace
}  // namespace hvtlb
