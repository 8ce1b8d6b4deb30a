// Targets as virtual processors: the 64-bit mask of a plain call, the sparse banks of an EX call.
#include "flush/vpset.h"

#include <gtest/gtest.h>

namespace hvtlb::hv {
namespace {

struct Cpus {
  std::vector<Cpu> list;
  template <class Visit>
  void for_each(Visit visit) const {
    for (Cpu cpu : list)
      if (!visit(cpu)) return;
  }
};

constexpr u64 kStale = 0xaaaaaaaaaaaaaaaa;

TEST(PlainSet, FillsTheMaskByVp) {
  u64 mask = kStale;
  EXPECT_EQ(fill_processor_mask(VpIndex({5, 0, 63}), Cpus{{0, 2}}, mask), PlainSet::kFilled);
  EXPECT_EQ(mask, u64{1} << 63 | 1 << 5);
}

TEST(PlainSet, NobodyIsEmpty) {
  u64 mask = kStale;
  EXPECT_EQ(fill_processor_mask(VpIndex({0, 1}), Cpus{{}}, mask), PlainSet::kEmpty);
  EXPECT_EQ(mask, 0u);
}

TEST(PlainSet, TheFirstOddVpDecides) {
  u64 mask = 0;
  const std::vector<u32> vps{0, 64, kVpInvalid, 1};
  EXPECT_EQ(fill_processor_mask(vps, Cpus{{0, 1, 2}}, mask), PlainSet::kNeedsEx);
  EXPECT_EQ(fill_processor_mask(vps, Cpus{{0, 2, 1}}, mask), PlainSet::kInvalidVp);
  EXPECT_EQ(fill_processor_mask(vps, Cpus{{1}}, mask), PlainSet::kNeedsEx);
  EXPECT_EQ(fill_processor_mask(vps, Cpus{{2}}, mask), PlainSet::kInvalidVp);
}

class VpSet : public testing::Test {
 protected:
  int build(const std::vector<u32>& vps, u32 hv_max_vp_index, std::vector<Cpu> cpus) {
    return cpumask_to_vpset(vps, hv_max_vp_index, Cpus{std::move(cpus)}, banks.data());
  }
  std::vector<u64> banks = std::vector<u64>(66, kStale);
};

TEST_F(VpSet, OneBankAtLeast) {
  EXPECT_EQ(build({3, 1}, 3, {0}), 1);
  EXPECT_EQ(banks[0], 8u);
  EXPECT_EQ(build({3, 1}, 3, {}), 1) << "even for nobody";
  EXPECT_EQ(banks[0], 0u);
}

TEST_F(VpSet, UpToTheHighestTouchedBankEmptyOnesBetween) {
  EXPECT_EQ(build({63, 64, 127, 320}, 320, {0, 1, 2}), 2);
  EXPECT_EQ(banks[0], u64{1} << 63);
  EXPECT_EQ(banks[1], u64{1} << 63 | 1);
  EXPECT_EQ(build({63, 64, 127, 320}, 320, {3, 0}), 6);
  EXPECT_EQ(banks[0], u64{1} << 63);
  for (int at : {1, 2, 3, 4}) EXPECT_EQ(banks[static_cast<u32>(at)], 0u);
  EXPECT_EQ(banks[5], 1u);
}

TEST_F(VpSet, AllBanksUpToTheMaximumAreClearedAndNoneBeyond) {
  EXPECT_EQ(build({0}, 191, {0}), 1);
  EXPECT_EQ(banks[0], 1u);
  EXPECT_EQ(banks[1], 0u);
  EXPECT_EQ(banks[2], 0u);
  EXPECT_EQ(banks[3], kStale);
  EXPECT_EQ(build({0}, 192, {0}), 1);
  EXPECT_EQ(banks[3], 0u);
  EXPECT_EQ(banks[4], kStale);
}

TEST_F(VpSet, AnInvalidVpEndsIt) {
  EXPECT_EQ(build({0, kVpInvalid, 65}, 65, {0, 1, 2}), -1);
  EXPECT_EQ(build({0, kVpInvalid, 65}, 65, {0, 2}), 2);
}

TEST_F(VpSet, BeyondSixtyFourBanksNothingIsWritten) {
  EXPECT_EQ(build({0, 4095}, 4095, {0, 1}), 64);
  EXPECT_EQ(banks[63], u64{1} << 63);
  EXPECT_EQ(banks[64], kStale);
  banks.assign(66, kStale);
  EXPECT_EQ(build({0, 4095}, 4096, {0, 1}), 0);
  EXPECT_EQ(banks, std::vector<u64>(66, kStale));
}

}  // namespace
}  // namespace hvtlb::hv
