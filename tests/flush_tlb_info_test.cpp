// Which pages a request answers for: beside the steps of the handler's loop, one by one.
#include "model/flush_tlb_info.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <initializer_list>

namespace hvtlb {
namespace {

constexpr u64 kLarge = u64{1} << 21;

TEST(CoveredRange, IsTheRequestWhereTheRequestIsAlignedToItsStride) {
  EXPECT_EQ(covered_range(0x1000, 0x5000, 12), (AddressRange{0x1000, 0x5000}));
  EXPECT_EQ(covered_range(kLarge, 3 * kLarge, 21), (AddressRange{kLarge, 3 * kLarge}));
}

TEST(CoveredRange, EverythingStaysEverything) {
  EXPECT_EQ(covered_range(0x5000, kTlbFlushAll, 12), (AddressRange{0, kTlbFlushAll}));
}

TEST(CoveredRange, OfNothingIsNothing) {
  EXPECT_EQ(covered_range(0x5000, 0x5000, 12), (AddressRange{0x5000, 0x5000}));
  EXPECT_EQ(covered_range(0x6000, 0x5000, 12), (AddressRange{0x6000, 0x6000}));
}

TEST(CoveredRange, WholePagesAreFlushedWhereBytesAreAsked) {
  EXPECT_EQ(covered_range(0x1001, 0x1002, 12), (AddressRange{0x1000, 0x2000}));
  EXPECT_EQ(covered_range(0x1ff8, 0x3001, 3), (AddressRange{0x1000, 0x4000}));
}

TEST(CoveredRange, TheLastStepOfAnUnalignedStartMayFallShortOfTheEnd) {
  // Steps at 0x1ff000 and 0x3ff000: the large page at 0x400000 is asked for and not reached.
  EXPECT_EQ(covered_range(0x1ff000, 0x401000, 21), (AddressRange{0x1ff000, 0x400000}));
}

TEST(CoveredRange, TheTopOfTheAddressSpaceIsAnEndToo) {
  const u64 last_page = ~u64{0} << kPageShift;
  EXPECT_EQ(covered_range(last_page, last_page + 1, 12), (AddressRange{last_page, kTlbFlushAll}));
  EXPECT_EQ(covered_range(last_page - kPageSize, last_page, 12),
            (AddressRange{last_page - kPageSize, last_page}));
}

/// The end of the last page that a step of the loop invalidates, if it was asked for.
u64 end_by_steps(u64 start, u64 end, u8 stride_shift) {
  const u64 page = u64{1} << std::max<u8>(stride_shift, kPageShift);
  u64 reached = start;
  for (u64 at = start; at < end; at += u64{1} << stride_shift) reached = at / page * page + page;
  const u64 asked = (end + kPageSize - 1) / kPageSize * kPageSize;
  return std::min(reached, asked);
}

TEST(CoveredRange, IsWhatTheStepsReach) {
  for (const u8 stride_shift : std::initializer_list<u8>{9, 11, 12, 13, 14})
    for (u64 start = 0x7000; start < 0xd000; start += 0x300)
      for (u64 end = start + 1; end < start + 0x9000; end += 0x2ff) {
        const AddressRange covered = covered_range(start, end, stride_shift);
        ASSERT_EQ(covered.start, start / kPageSize * kPageSize);
        ASSERT_EQ(covered.end, end_by_steps(start, end, stride_shift))
            << start << " " << end << " " << unsigned{stride_shift};
      }
}

TEST(FlushTlbInfo, AsTheBatchedFlushHasIt) {
  const FlushTlbInfo info;
  EXPECT_EQ(info.start, 0u);
  EXPECT_EQ(info.end, kTlbFlushAll);
  EXPECT_FALSE(info.has_mm || info.freed_tables || info.trim_cpumask);
  EXPECT_EQ(info.new_tlb_gen, kTlbGenerationInvalid);
}

}  // namespace
}  // namespace hvtlb
