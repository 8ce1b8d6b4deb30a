// Rule fields by name: what `--set FIELD=VALUE` and the table of eras stand on.
#include "model/rules.h"

#include <gtest/gtest.h>
#include <set>

#include "model/eras.h"

namespace hvtlb {
namespace {

TEST(Rules, EveryFieldIsReadAndWrittenByNameAloneAndNothingElse) {
  for (const RulesField& field : rules_fields()) {
    EXPECT_EQ(find_rules_field(field.name), &field);
    EXPECT_FALSE(field.about.empty());
    for (unsigned value = 0; value < field.values.size(); ++value) {
      for (const Era& era : eras()) {
        Rules rules = era.rules;
        const std::string text = std::string(field.name) + "=" + std::string(field.values[value]);
        EXPECT_EQ(set_rules_field(rules, text), "");
        EXPECT_EQ(field.get(rules), value);
        EXPECT_EQ(field.value_of(rules), field.values[value]);
        for (const RulesField& other : rules_fields()) {
          if (&other == &field) continue;
          EXPECT_EQ(other.get(rules), other.get(era.rules)) << other.name;
        }
      }
    }
  }
}

TEST(Rules, TheFieldsTellAllErasApart) {
  // Two rules that agree in every named field are equal: no field is left out of the table.
  for (const Era& a : eras())
    for (const Era& b : eras()) {
      bool same = true;
      for (const RulesField& field : rules_fields())
        same &= field.get(a.rules) == field.get(b.rules);
      EXPECT_EQ(same, a.rules == b.rules) << a.name << " " << b.name;
      EXPECT_EQ(same, a.name == b.name) << a.name << " " << b.name;
    }
}

TEST(Rules, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const RulesField& field : rules_fields()) EXPECT_TRUE(names.insert(field.name).second);
  EXPECT_EQ(names.size(), 46u);
}

TEST(Rules, EveryValueHasAName) {
  for (const RulesField& field : rules_fields())
    for (const std::string_view value : field.values) EXPECT_NE(value, "") << field.name;
}

TEST(Rules, RefusalsSayWhatWasFoundAndWhatWasExpected) {
  Rules rules;
  EXPECT_EQ(set_rules_field(rules, "hv_targets"), "found 'hv_targets', expected FIELD=VALUE");
  EXPECT_EQ(set_rules_field(rules, "hv_targets=nobody"),
            "found hv_targets=nobody, expected one of whole_mask not_lazy native_predicate");
  EXPECT_EQ(
      set_rules_field(rules, "no_such=true").find("found the field 'no_such', expected one of"),
      0u);
  for (const RulesField& field : rules_fields())
    EXPECT_NE(set_rules_field(rules, "no_such=true").find(fmt::format(" {}", field.name)),
              std::string::npos)
        << "the list has all of them";
  EXPECT_EQ(rules, Rules{}) << "nothing was changed";
}

}  // namespace
}  // namespace hvtlb
