// Computed CPU sets: text forms, words, algebra.
#include "model/cpumask.h"

#include <gtest/gtest.h>
#include <vector>

namespace hvtlb {
namespace {

CpuMask of(u32 nr_cpus, std::initializer_list<Cpu> cpus) {
  CpuMask mask(nr_cpus);
  for (Cpu cpu : cpus) mask.set(cpu);
  return mask;
}

TEST(CpuMask, HexHasNoLeadingZerosAndPadsLowerWords) {
  EXPECT_EQ(of(4, {}).to_hex(), "0x0");
  EXPECT_EQ(of(4, {0, 3}).to_hex(), "0x9");
  EXPECT_EQ(of(70, {64}).to_hex(), "0x10000000000000000");
  EXPECT_EQ(of(200, {0, 69}).to_hex(), "0x200000000000000001");
}

TEST(CpuMask, ListsAsTheKernelDoes) {
  EXPECT_EQ(of(4, {}).to_list(), "-");
  EXPECT_EQ(of(32, {3, 7, 16, 17, 18, 19}).to_list(), "3,7,16-19");
  EXPECT_EQ(of(130, {63, 64, 129}).to_list(), "63-64,129");
}

TEST(CpuMask, FromWordsDropsWhatIsBeyondTheSize) {
  const std::vector<u64> words{~u64{0}, ~u64{0}};
  const CpuMask mask = CpuMask::from_words(words, 66);
  EXPECT_EQ(mask.size(), 66u);
  EXPECT_EQ(mask.count(), 66u);
  EXPECT_TRUE(mask.test(65));
  EXPECT_FALSE(mask.test(66));
}

TEST(CpuMask, Algebra) {
  const CpuMask a = of(8, {0, 1, 2});
  const CpuMask b = of(8, {2, 3});
  EXPECT_EQ(a | b, of(8, {0, 1, 2, 3}));
  EXPECT_EQ(a & b, of(8, {2}));
  EXPECT_EQ(a - b, of(8, {0, 1}));
  EXPECT_TRUE(of(8, {1}).is_subset_of(a));
  EXPECT_FALSE(b.is_subset_of(a));
  EXPECT_TRUE(of(8, {}).none());
  EXPECT_TRUE(b.any());
}

TEST(CpuMask, VisitsAscending) {
  std::vector<Cpu> seen;
  of(130, {129, 0, 64}).for_each([&](Cpu cpu) { seen.push_back(cpu); });
  EXPECT_EQ(seen, (std::vector<Cpu>{0, 64, 129}));
}

}  // namespace
}  // namespace hvtlb
