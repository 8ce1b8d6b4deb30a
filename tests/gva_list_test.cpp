// fill_gva_list(): the kernel's list of addresses, odd corners included.
#include "flush/gva_list.h"

#include <gtest/gtest.h>
#include <vector>

namespace hvtlb::hv {
namespace {

constexpr u64 kVa = 0x7f0000000000;
constexpr u64 kUnit = u64{16} << 20;

std::vector<u64> list_of(u64 start, u64 end) {
  std::vector<u64> list(512, 0xdead);
  list.resize(fill_gva_list(list, start, end));
  return list;
}

using List = std::vector<u64>;

TEST(GvaList, OneEntryHoldsUpTo4096Pages) {
  EXPECT_EQ(list_of(kVa, kVa + 0x1000), (List{kVa}));
  EXPECT_EQ(list_of(kVa, kVa + 0x2000), (List{kVa | 1}));
  EXPECT_EQ(list_of(kVa, kVa + kUnit - 0x1000), (List{kVa | 4094}));
  EXPECT_EQ(list_of(kVa, kVa + kUnit), (List{kVa | 4095}));
}

TEST(GvaList, LongerRangesGetMoreEntries) {
  EXPECT_EQ(list_of(kVa, kVa + kUnit + 0x1000), (List{kVa | 4095, kVa + kUnit}));
  EXPECT_EQ(list_of(kVa, kVa + 2 * kUnit + 0x3000),
            (List{kVa | 4095, (kVa + kUnit) | 4095, (kVa + 2 * kUnit) | 2}));
}

TEST(GvaList, AnUnalignedEndCoversItsPage) {
  EXPECT_EQ(list_of(kVa, kVa + 1), (List{kVa}));
  EXPECT_EQ(list_of(kVa, kVa + 0x1001), (List{kVa | 1}));
}

TEST(GvaList, AnUnalignedStartCanLeaveTheLastPageUncovered) {
  // [0x800, 0x1800) touches two pages; the length says one.
  EXPECT_EQ(list_of(kVa + 0x800, kVa + 0x1800), (List{kVa}));
  EXPECT_EQ(list_of(kVa + 0x800, kVa + kUnit + 0x800 + 1), (List{kVa | 4095, kVa + kUnit}));
}

TEST(GvaList, EmptyAndReversedRangesGiveOneEntryOfOnePage) {
  EXPECT_EQ(list_of(kVa, kVa), (List{kVa}));
  EXPECT_EQ(list_of(kVa + 0x5123, 0), (List{kVa + 0x5000}));
  EXPECT_EQ(list_of(0, 0), (List{0}));
  EXPECT_EQ(list_of(kVa, kVa - 0x1000), (List{kVa}));
}

TEST(GvaList, AWrappingRangeGivesOneEntry) {
  EXPECT_EQ(list_of(0xfffffffffffff000, 0x1000), (List{0xfffffffffffff000}));
  EXPECT_EQ(list_of(0xffffffffff000000, 0xfffffffffffffffe), (List{0xffffffffff000fff}));
}

}  // namespace
}  // namespace hvtlb::hv
