// The table of eras: what the specification says of each row.
#include "model/eras.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

TEST(Eras, EveryNameIsFoundAndOnlyThose) {
  for (const Era& era : eras()) EXPECT_EQ(find_era(era.name), &era);
  EXPECT_EQ(find_era("v6.2"), nullptr);
}

TEST(Eras, FieldsAreSetByName) {
  Rules rules = find_era("v6.17.5")->rules;
  EXPECT_EQ(set_rules_field(rules, "hv_targets=native_predicate"), "");
  EXPECT_EQ(rules.hv_targets, HypervTargets::kNativePredicate);
  EXPECT_NE(set_rules_field(rules, "hv_targets=nobody"), "");
  EXPECT_NE(set_rules_field(rules, "no_such=true"), "");
  EXPECT_NE(set_rules_field(rules, "hv_targets"), "");
}

}  // namespace
}  // namespace hvtlb
