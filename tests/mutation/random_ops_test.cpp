// The fuzz target on pseudo-random bytes: a few hundred machines, the same ones every time.
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "fuzz/ops_target.h"

namespace hvtlb {
namespace {

TEST(RandomOps, BreakNoProperty) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(600);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    ASSERT_EQ(fuzz::run_ops(bytes).value_or(""), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace hvtlb
