// The table of eras: every cell of the specification's, written out here a second time.
#include "model/eras.h"

#include <gtest/gtest.h>
#include <string>

namespace hvtlb {
namespace {

struct Row {
  std::string_view name;
  bool eager;               // LOCKed set / LOCKed clear; otherwise set if clear / left behind
  bool wants_loaded;        // the predicate: "and (no mm, or loaded = mm, or trim)"
  bool or_switching;        // "or SWITCHING"
  bool early_marker;        // before the bits and the generation
  bool fence_when_bit_set;  // in the lazy-bit eras
  bool trims;               // the sender sets the trim flag
  bool global_asids;
  HypervTargets targets;
};

constexpr auto kWhole = HypervTargets::kWholeMask;
constexpr auto kNotLazy = HypervTargets::kNotLazy;
constexpr auto kFiltered = HypervTargets::kNativePredicate;

// clang-format off
constexpr Row kTable[] = {
    //              eager  loaded switch early  fence  trims  global
    {"v6.1",        true,  false, false, false, false, false, false, kWhole},
    {"v6.4",        true,  false, false, false, false, false, false, kNotLazy},
    {"v6.1.129",    true,  true,  false, false, false, true,  false, kWhole},
    {"v6.12.29",    true,  true,  true,  false, false, true,  false, kNotLazy},
    {"v6.12.117",   true,  true,  true,  true,  false, true,  false, kNotLazy},
    {"v6.1.192",    true,  true,  true,  true,  false, true,  false, kWhole},
    {"v6.14",       false, true,  false, false, false, true,  false, kNotLazy},
    {"v6.14.7",     false, true,  true,  false, false, true,  false, kNotLazy},
    {"v6.15",       false, true,  true,  true,  false, true,  true,  kNotLazy},
    {"v6.17.5",     false, true,  true,  true,  true,  true,  true,  kNotLazy},
    {"filtered",    false, true,  true,  true,  true,  true,  true,  kFiltered},
};
// clang-format on

TEST(Eras, EveryCellOfTheTable) {
  ASSERT_EQ(eras().size(), std::size(kTable));
  for (std::size_t at = 0; at < std::size(kTable); ++at) {
    const Row& row = kTable[at];
    const Rules& r = eras()[at].rules;
    SCOPED_TRACE(row.name);
    EXPECT_EQ(eras()[at].name, row.name);
    EXPECT_FALSE(eras()[at].kernels.empty());
    EXPECT_EQ(r.next_bit, row.eager ? NextBit::kLockedSet : NextBit::kSetIfClear);
    EXPECT_EQ(r.prev_bit, row.eager ? PrevBit::kCleared : PrevBit::kLeftBehind);
    EXPECT_EQ(r.same_mm_repairs_bit, row.eager);
    EXPECT_EQ(r.predicate_loaded_mm, row.wants_loaded);
    EXPECT_EQ(r.predicate_switching, row.or_switching);
    EXPECT_EQ(r.switching_marker,
              row.early_marker ? SwitchingMarker::kBeforeBits : SwitchingMarker::kAfterGenRead);
    EXPECT_EQ(r.fence_if_bit_set, row.fence_when_bit_set);
    EXPECT_EQ(r.sender_asks_trim, row.trims);
    EXPECT_EQ(r.handler_foreign_mm,
              row.eager ? ForeignMm::kRemoteReturns : ForeignMm::kClearsOwnBit);
    EXPECT_EQ(r.unuse_clears_bit, !row.eager);
    EXPECT_EQ(r.global_asid, row.global_asids);
    const bool fix = row.targets == kFiltered;
    EXPECT_EQ(r.hv_targets, row.targets);
    EXPECT_EQ(r.hv_format_from, fix ? HypervFormatFrom::kTargets : HypervFormatFrom::kMask);
    EXPECT_EQ(r.hv_trim_round_native, fix);
    EXPECT_EQ(r.hv_immediate_trim, fix);
    EXPECT_FALSE(r.hv_immediate_trim_rewrites_next_trim);
  }
}

TEST(Eras, EveryNameIsFoundAndOnlyThose) {
  for (const Era& era : eras()) EXPECT_EQ(find_era(era.name), &era);
  EXPECT_EQ(find_era("v6.2"), nullptr);
  EXPECT_EQ(find_era(""), nullptr);
  EXPECT_EQ(find_era(kEraBeforeFix)->rules.hv_targets, HypervTargets::kNotLazy);
  EXPECT_EQ(find_era(kEraWithFix)->rules.hv_targets, HypervTargets::kNativePredicate);
  EXPECT_EQ(era_names().find("v6.1 v6.4 v6.1.129 "), 0u);
}

std::string faults_of(const Era& era) {
  std::string text;
  for (const KnownFault& fault : era.known_faults) {
    if (!text.empty()) text += ' ';
    text.append(fault.zoo).append(":").append(fault.property);
  }
  return text;
}

TEST(Eras, KnownFaultsAsListed) {
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"v6.1", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2"},
      {"v6.4", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2"},
      {"v6.1.129", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2 Z01:P1"},
      {"v6.12.29", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2 Z02:P1"},
      {"v6.12.117", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2"},
      {"v6.1.192", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z41:P2"},
      {"v6.14", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z01:P1 Z04:P1 Z06:P6"},
      {"v6.14.7", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z02:P1 Z04:P1 Z06:P6"},
      {"v6.15", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z03:P1 Z04:P1 Z06:P6 Z25a:lazy"},
      {"v6.17.5", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z06:P6 Z25a:lazy"},
      {"filtered", "Z14:P1 Z14:P2 Z14:P7 Z15:P7 Z25a:lazy"},
  };
  for (const auto& [name, faults] : expected) EXPECT_EQ(faults_of(*find_era(name)), faults) << name;
}

TEST(Eras, FaultsThatASequentialRunShowsAreMarkedSo) {
  for (const Era& era : eras())
    for (const KnownFault& fault : era.known_faults) {
      const bool sequential =
          fault.zoo == "Z14" || fault.zoo == "Z15" || fault.zoo == "Z06" || fault.zoo == "Z25a";
      EXPECT_EQ(fault.interleaving, !sequential) << fault.zoo;
    }
}

}  // namespace
}  // namespace hvtlb
