#include "proptest/classes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hvtlb::proptest {

void Classes::expect_at_least(double least) const {
  fmt::print("{} cases:\n", cases_);
  for (const auto& [name, count] : counts_) {
    const double share = static_cast<double>(count) / static_cast<double>(cases_ == 0 ? 1 : cases_);
    fmt::print("  {:5.1f} % {}\n", 100 * share, name);
    if (!enough()) continue;
    EXPECT_GE(share, least) << name << " has become rare";
  }
}

}  // namespace hvtlb::proptest
