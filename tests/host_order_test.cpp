// Inputs with two defects (which one does the host see first?), and where ranges become everything.
#include <gtest/gtest.h>

#include "host_call.h"

namespace hvtlb::host {
namespace {

std::string tlfs(const GuestCall& call) {
  return text(react(Profile::tlfs, call));
}
std::string kvm(const GuestCall& call) {
  return text(react(Profile::kvm, call));
}
std::string openhcl(const GuestCall& call) {
  return text(react(Profile::openhcl, call));
}
std::string xen(const GuestCall& call) {
  return text(react(Profile::xen, call));
}

TEST(HostOrder, ReservedBitsAndUnknownCode) {
  const GuestCall call = made(0x7777, {0, 0, 0}, {}).bits(u64{1} << 60);
  EXPECT_EQ(tlfs(call), "2 of 2,3");
  EXPECT_EQ(kvm(call), "3");
  EXPECT_EQ(openhcl(call), "2");
  EXPECT_EQ(xen(call), "2");
}

TEST(HostOrder, UnknownCodeComesBeforeEverythingElse) {
  const GuestCall call = made(0x7777, {}, {}).fast();
  for (const Profile profile : kProfiles) EXPECT_EQ(text(react(profile, call)), "2");
}

TEST(HostOrder, TlfsReportsAllThatApply) {
  EXPECT_EQ(tlfs(space(0).at(4)), "4 of 4,5");
  EXPECT_EQ(tlfs(space(0).at(4).bits(u64{1} << 27)), "3 of 3,4,5");
  EXPECT_EQ(tlfs(list(0, {}).at(4)), "3 of 3,4,5");
  EXPECT_EQ(tlfs(list(0, pages(2)).without_last(8).at(4080)), "3 of 3,4,5");
  // Without a header nothing is known of its fields.
  EXPECT_EQ(tlfs(space(0).without_last(1)), "3");
  // Without its banks it is not known whether a set is empty.
  EXPECT_EQ(tlfs(space_ex(0, 1, {0}).without_last(8)), "3");
  EXPECT_EQ(tlfs(space_ex(2, 1, {0}).without_last(8)), "3 of 3,5");
}

TEST(HostOrder, KvmLeavesAnEmptySetBeforeItReadsTheList) {
  EXPECT_EQ(kvm(list_ex(0, 0, {}, pages(2)).without_last(16)), "nobody reps 2");
  EXPECT_EQ(kvm(list_ex(0, 0, {}, pages(20))), "nobody reps 20");
  EXPECT_EQ(kvm(list_ex(0, 1, {0}, pages(2)).without_last(16)), "3");
  EXPECT_EQ(kvm(list_ex(0, 1, {0}, pages(16)).without_last(128)), "nobody everything reps 16");
  // The rep rules come first.
  EXPECT_EQ(kvm(list_ex(0, 0, {}, {})), "3");
  EXPECT_EQ(kvm(list_ex(0, 0, {}, pages(1)).reps(1, 1)), "3");
  // So does the header's size.
  EXPECT_EQ(kvm(list_ex(0, 0, {}, pages(1)).header_words(1)), "3");
}

TEST(HostOrder, KvmFindsTheListBehindBanksThatItSkips) {
  EXPECT_EQ(kvm(list_ex(1, 3, {~u64{0}, ~u64{0}}, pages(1))), "0,1,2,5,64,130 0x10000+1 reps 1");
}

TEST(HostOrder, OpenhclCrossingAlignmentParameters) {
  EXPECT_EQ(openhcl(list(3, {}).at(4)), "3");               // reps before alignment
  EXPECT_EQ(openhcl(space(3).header_words(1).at(4)), "3");  // header before alignment
  EXPECT_EQ(openhcl(space(3).at(4092)), "3");               // crossing before alignment
  EXPECT_EQ(openhcl(space(3).at(4).without_last(8)), "4");  // alignment before reading
  EXPECT_EQ(openhcl(space(0).without_last(8)), "3");        // reading before parameters
  EXPECT_EQ(openhcl(space(0).at(4)), "4");
  EXPECT_EQ(openhcl(space_ex(1, 1, {3}).without_last(8)), "3");
}

TEST(HostOrder, XenFastFormatBanks) {
  EXPECT_EQ(xen(space_ex(2, 0, {}, 1).fast()), "5");
  EXPECT_EQ(xen(space_ex(2, 1, {3}).without_last(8)), "5");
  EXPECT_EQ(xen(space_ex(0, 1, {3}, 1).without_last(8)), "0,1,2,5,64,130 everything reps 0");
  EXPECT_EQ(xen(space_ex(0, 3, {3}).header_words(2)), "5");
}

TEST(HostFast, FormIsReadLikeMemory) {
  EXPECT_EQ(tlfs(space(3).fast()), "0,1 everything reps 0");
  EXPECT_EQ(kvm(list(3, pages(2)).fast()), "0,1 0x10000+1 0x11000+1 reps 2");
  EXPECT_EQ(openhcl(list_ex(0, 5, {2, 4}, pages(1)).fast()), "1,130 0x10000+1 reps 1");
  EXPECT_EQ(xen(space(3).fast()), "5");
}

TEST(HostFast, AlignmentAndCrossingDoNotApply) {
  for (const Profile profile : {Profile::tlfs, Profile::kvm, Profile::openhcl})
    EXPECT_EQ(text(react(profile, space(3).fast().at(4095))), "0,1 everything reps 0");
}

TEST(HostFast, KvmPlainList) {
  for (std::size_t count = 1; count <= 11; ++count)
    EXPECT_EQ(react(Profile::kvm, list(3, pages(count)).fast()).ranges.size(), count);
  for (std::size_t count = 12; count <= 15; ++count)
    EXPECT_EQ(kvm(list(3, pages(count)).fast()), "3") << count;
  EXPECT_EQ(kvm(list(3, pages(16)).fast()), "0,1 everything reps 16");
  EXPECT_EQ(kvm(list(3, pages(4095)).fast()), "0,1 everything reps 4095");
}

TEST(HostFast, KvmBanks) {
  for (u32 banks = 1; banks <= 64; ++banks) {
    const u64 bank_mask = ~u64{0} >> (64 - banks);
    const std::vector<u64> words(banks, 1);
    const std::string name = std::to_string(banks) + " banks";
    EXPECT_EQ(react(Profile::kvm, space_ex(0, bank_mask, words).fast()).status, banks <= 10 ? 0 : 3)
        << name;
    // Skipped, they need not fit; a list behind them must.
    EXPECT_EQ(react(Profile::kvm, space_ex(1, bank_mask, words).fast()).status, 0) << name;
    for (std::size_t reps = 1; reps <= 15; ++reps) {
      const int expected = reps + banks <= 10 ? 0 : 3;
      EXPECT_EQ(react(Profile::kvm, list_ex(0, bank_mask, words, pages(reps)).fast()).status,
                expected)
          << name << ", " << reps;
      EXPECT_EQ(react(Profile::kvm, list_ex(1, bank_mask, words, pages(reps)).fast()).status,
                expected)
          << name << ", " << reps;
    }
    EXPECT_EQ(react(Profile::kvm, list_ex(0, bank_mask, words, pages(16)).fast()).everything,
              banks <= 10)
        << name;
    EXPECT_TRUE(react(Profile::kvm, list_ex(1, bank_mask, words, pages(16)).fast()).everything);
  }
}

TEST(HostFast, OneHundredAndTwelveBytes) {
  EXPECT_EQ(react(Profile::openhcl, list(3, pages(11)).fast()).ranges.size(), 11U);
  EXPECT_EQ(openhcl(list(3, pages(12)).fast()), "3");
  EXPECT_EQ(openhcl(list(0, pages(12)).fast()), "3");
  EXPECT_EQ(react(Profile::tlfs, list(3, pages(11)).fast()).ranges.size(), 11U);
  EXPECT_EQ(tlfs(list(3, pages(12)).fast()), "3");
  EXPECT_EQ(openhcl(list_ex(0, 1, {3}, pages(10)).fast()), "3");
  EXPECT_EQ(react(Profile::openhcl, list_ex(0, 1, {3}, pages(9)).fast()).ranges.size(), 9U);
}

TEST(HostGranularity, Kvm) {
  EXPECT_EQ(react(Profile::kvm, list(3, pages(15))).ranges.size(), 15U);
  EXPECT_EQ(kvm(list(3, pages(16))), "0,1 everything reps 16");
  EXPECT_EQ(kvm(list(3, {0xfff})), "0,1 0x0+4096 reps 1");
}

TEST(HostGranularity, OpenhclCountsTheAdditionalPages) {
  EXPECT_EQ(react(Profile::openhcl, list(3, pages(16))).ranges.size(), 16U);
  EXPECT_EQ(openhcl(list(3, pages(17))), "0,1 everything reps 17");
  EXPECT_EQ(openhcl(list(3, {0x1010})), "0,1 0x1000+17 reps 1");
  EXPECT_EQ(openhcl(list(3, {0x1011})), "0,1 everything reps 1");
  EXPECT_EQ(openhcl(list(3, {0x1000, 0x2011})), "0,1 everything reps 2");
  // Entries before the rep start are not looked at.
  EXPECT_EQ(openhcl(list(3, {0x1fff, 0x2000}).reps(2, 1)), "0,1 0x2000+1 reps 2");
  EXPECT_EQ(react(Profile::openhcl, list(3, pages(20)).reps(20, 4)).ranges.size(), 16U);
}

TEST(HostGranularity, TlfsTakesThemAll) {
  EXPECT_EQ(react(Profile::tlfs, list(3, pages(509))).ranges.size(), 509U);
  EXPECT_EQ(tlfs(list(3, {0x1fff})), "0,1 0x1000+4096 reps 1");
}

TEST(HostExtendedRanges, SmallPages) {
  const u64 extended = 8;
  EXPECT_EQ(tlfs(list(3, {0x12345677f}, extended)), "0,1 0x123456000+1920 reps 1");
  EXPECT_EQ(openhcl(list(3, {0x123456010}, extended)), "0,1 0x123456000+17 reps 1");
  EXPECT_EQ(openhcl(list(3, {0x123456011}, extended)), "0,1 everything reps 1");
  EXPECT_EQ(kvm(list(3, {0x12345677f}, extended)), "0,1 0x123456000+1920 reps 1");
}

TEST(HostExtendedRanges, LargePages) {
  const u64 extended = 8;
  const u64 two_mib = 0x40000000 | 0x800;
  const u64 one_gib = 0x40000000 | 0x1800;
  EXPECT_EQ(tlfs(list(3, {two_mib, two_mib | 3}, extended)),
            "0,1 0x40000000+512 0x40000000+2048 reps 2");
  EXPECT_EQ(tlfs(list(3, {one_gib | 1}, extended)), "0,1 0x40000000+524288 reps 1");
  // Bits 20:13 are no part of a large page's address.
  EXPECT_EQ(tlfs(list(3, {two_mib | 0x1fe000}, extended)), "0,1 0x40000000+512 reps 1");
  EXPECT_EQ(openhcl(list(3, {two_mib | 16}, extended)), "0,1 0x40000000+8704 reps 1");
  EXPECT_EQ(openhcl(list(3, {two_mib | 17}, extended)), "0,1 everything reps 1");
  // KVM takes the same word for 2049 small pages.
  EXPECT_EQ(kvm(list(3, {two_mib}, extended)), "0,1 0x40000000+2049 reps 1");
  // Without the flag everybody does.
  EXPECT_EQ(tlfs(list(3, {two_mib})), "0,1 0x40000000+2049 reps 1");
}

TEST(HostVps, AnyOrderAnyNumber) {
  const std::array<u8, 24> bytes{0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::vector<u32> odd{4096, 7, 7, ~u32{0}, 0};
  const Reaction all = decode(Profile::kvm, 2, Input::memory(bytes, 0), odd, 7);
  EXPECT_EQ(all.flushed, (std::vector<u32>{0, 7, 4096, ~u32{0}}));
  EXPECT_TRUE(decode(Profile::kvm, 2, Input::memory(bytes, 0), {}, 0).flushed.empty());
}

}  // namespace
}  // namespace hvtlb::host
