// The bits of one word, in runs and scattered, beside one look at every bit.
#include "flush/word_bits.h"

#include <gtest/gtest.h>
#include <vector>

namespace hvtlb {
namespace {

std::vector<u32> bits_of(u64 word) {
  std::vector<u32> bits;
  for (u32 bit = 0; bit < 64; ++bit)
    if ((word >> bit & 1) != 0) bits.push_back(bit);
  return bits;
}

const std::vector<u64> kWords{0,
                              1,
                              2,
                              3,
                              5,
                              0xf0,
                              0xff00ff00,
                              u64{1} << 63,
                              u64{3} << 62,
                              ~u64{0},
                              ~u64{0} << 1,
                              ~u64{0} >> 1,
                              0x8000000000000001};

TEST(WordBits, AreVisitedInOrder) {
  for (const u64 word : kWords) {
    std::vector<u32> seen;
    EXPECT_TRUE(for_each_bit(word, [&](u32 bit) {
      seen.push_back(bit);
      return true;
    }));
    EXPECT_EQ(seen, bits_of(word)) << word;
  }
}

TEST(WordBits, TheVisitorMayStop) {
  for (const u64 word : kWords) {
    if (word == 0) continue;
    u32 visits = 0;
    EXPECT_FALSE(for_each_bit(word, [&](u32) {
      ++visits;
      return false;
    }));
    EXPECT_EQ(visits, 1u) << word;
  }
}

TEST(WordBits, ARunHasNoHoles) {
  for (const u64 word : kWords) {
    if (word == 0) continue;
    const std::vector<u32> bits = bits_of(word);
    EXPECT_EQ(is_one_run(word), bits.back() - bits.front() + 1 == bits.size()) << word;
    if (!is_one_run(word)) continue;
    EXPECT_EQ(run_of(word).begin, bits.front());
    EXPECT_EQ(run_of(word).end, bits.back() + 1);
  }
}

}  // namespace
}  // namespace hvtlb
