// The private copy of filtered targets: questions that go over more than one word.
#include "flush/targets.h"

#include <array>
#include <gtest/gtest.h>

namespace hvtlb {
namespace {

constexpr u32 kCpus = 192;
using Words = std::array<u64, 3>;

PrivateTargets targets_of(const Words& words) {
  return {words, kCpus};
}

TEST(PrivateTargets, AreEqualOnlyWhenEveryWordIs) {
  const Words words{1, 2, 3};
  EXPECT_TRUE(targets_of(words).equal(Words{1, 2, 3}));
  EXPECT_FALSE(targets_of(words).equal(Words{0, 2, 3}));
  EXPECT_FALSE(targets_of(words).equal(Words{1, 0, 3}));
  EXPECT_FALSE(targets_of(words).equal(Words{1, 2, 0}));
}

TEST(PrivateTargets, TheLastOneStandsInTheHighestWordThatIsNotEmpty) {
  EXPECT_EQ(targets_of({1, 2, 3}).last(), 129u);
  EXPECT_EQ(targets_of({1, 6, 0}).last(), 66u);
  EXPECT_EQ(targets_of({u64{1} << 63, 0, 0}).last(), 63u);
  EXPECT_EQ(targets_of({0, 0, 0}).last(), kCpus);
}

TEST(PrivateTargets, AreVisitedInOrderUntilTheVisitorHasEnough) {
  const Words words{u64{1} << 63, 0, 5};
  std::vector<Cpu> seen;
  targets_of(words).for_each([&](Cpu cpu) {
    seen.push_back(cpu);
    return true;
  });
  EXPECT_EQ(seen, (std::vector<Cpu>{63, 128, 130}));
  seen.clear();
  targets_of(words).for_each([&](Cpu cpu) {
    seen.push_back(cpu);
    return cpu < 128;
  });
  EXPECT_EQ(seen, (std::vector<Cpu>{63, 128}));
}

TEST(PrivateTargets, WordsWithoutAMemberAreNotVisited) {
  const Words words{7, 0, 5};
  std::vector<std::pair<Cpu, u64>> seen;
  targets_of(words).for_each_word([&](Cpu first, u64 word) {
    seen.emplace_back(first, word);
    return true;
  });
  EXPECT_EQ(seen, (std::vector<std::pair<Cpu, u64>>{{0, 7}, {128, 5}}));
  seen.clear();
  targets_of(words).for_each_word([&](Cpu first, u64 word) {
    seen.emplace_back(first, word);
    return false;
  });
  EXPECT_EQ(seen.size(), 1u);
}

}  // namespace
}  // namespace hvtlb
