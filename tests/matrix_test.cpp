// The catalogue under every era: what breaks is known, what is known breaks, and where the fix may
// be ported to.
#include "zoo/matrix.h"

#include <gtest/gtest.h>
#include <map>

#include "model/eras.h"
#include "tests/sanitized.h"

namespace hvtlb::zoo {
namespace {

using explore::MemoryModel;

MatrixTable filled(MatrixTable table) {
  fill(table, [](u32, u32) { return true; });
  return table;
}

/// `-`, `P1`, `P1*` under x86-TSO alone; nothing may be left open.
std::string text_of(const MatrixCell& cell) {
  if (!cell.applies) return "";
  for (const explore::End end : cell.end)
    EXPECT_TRUE(end == explore::End::kExhausted || end == explore::End::kViolation);
  const auto& sc = cell.violated(MemoryModel::kSc);
  const auto& tso = cell.violated(MemoryModel::kTso);
  EXPECT_TRUE(!sc || sc == tso) << "what SC shows x86-TSO shows";
  if (!tso) return "-";
  return std::string(name_of(*tso)) + (sc ? "" : "*");
}

/// What breaks in a row: `switch:P1 ...`.
std::string broken(const MatrixTable& table, std::size_t row) {
  std::string text;
  for (std::size_t at = 0; at < situations().size(); ++at) {
    const std::string cell = text_of(table.cells[row][at]);
    if (cell.empty() || cell == "-") continue;
    text += (text.empty() ? "" : " ") + std::string(situations()[at]) + ":" + cell;
  }
  return text;
}

TEST(Matrix, InEveryEraOnlyKnownFaultsShowAndAllOfThem) {
  if (test::kSanitized) GTEST_SKIP() << "the optimised build does this";
  const MatrixTable table = filled(era_matrix());
  std::map<std::string, std::string> rows;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (const MatrixCell& cell : table.cells[row])
      for (const auto& violated : cell.violates)
        EXPECT_TRUE(!violated || is_known(table.rows[row], *violated)) << table.rows[row].name;
    rows[table.rows[row].name] = broken(table, row);
  }
  const std::string window =
      "switch:P1 switch-of-three:P1 lazy-other:P1 lazy-other-of-three:P1 foreign:P1 "
      "foreign-of-three:P1 temporary:P1";
  const std::string fence =
      "switch:P1* switch-of-three:P1* lazy-other:P1* lazy-other-of-three:P1* foreign:P1* "
      "foreign-of-three:P1* temporary:P1* global-asid:P1* global-asid-lazy:lazy";
  const std::string z04 = "lazy-other:P1* lazy-other-of-three:P1*";
  for (const char* era : {"v6.1", "v6.4", "v6.12.117", "v6.1.192"})
    for (const char* path : {" native", " hyperv"})
      EXPECT_EQ(rows[era + std::string(path)], "hotplug:P2") << era << ": Z41";
  for (const char* era : {"v6.1.129", "v6.12.29"}) {
    EXPECT_EQ(rows[era + std::string(" native")], window + " hotplug:P2") << era << ": Z01, Z02";
    EXPECT_EQ(rows[era + std::string(" hyperv")], "hotplug:P2");
  }
  EXPECT_EQ(rows["v6.14 native"], window + " hotplug:P1") << "Z01";
  EXPECT_EQ(rows["v6.14.7 native"], window) << "Z02";
  EXPECT_EQ(rows["v6.14 hyperv"], z04);
  EXPECT_EQ(rows["v6.14.7 hyperv"], z04);
  EXPECT_EQ(rows["v6.15 native"], fence) << "Z03";
  EXPECT_EQ(rows["v6.15 hyperv"], z04 + " global-asid:P1*") << "Z04; broadcasts are no hypercall";
  EXPECT_EQ(rows["v6.17.5 native"], "global-asid-lazy:lazy") << "Z25a";
  EXPECT_EQ(rows["v6.17.5 hyperv"], "") << "a hypercall runs no handler";
  EXPECT_EQ(rows["filtered native"], "global-asid-lazy:lazy");
  EXPECT_EQ(rows["filtered hyperv"], "global-asid-lazy:lazy") << "transitions go native";
}

TEST(Matrix, TheFixNeedsTheEarlyMarkerItsTestAndTheFence) {
  if (test::kSanitized) GTEST_SKIP() << "scenario_test fills this table under the sanitizers";
  const MatrixTable table = filled(porting_matrix());
  const std::string missed = "switch-of-three:P1 lazy-other-of-three:P1 foreign-of-three:P1";
  const std::map<std::string, std::string> expected{
      {"v6.1", "hotplug:P2"},
      {"v6.4", "hotplug:P2"},
      {"v6.1.129", missed + " hotplug:P2"},
      {"v6.12.29", missed + " hotplug:P2"},
      {"v6.12.117", "hotplug:P2"},
      {"v6.1.192", "hotplug:P2"},
      {"v6.14", "switch-of-three:P1 lazy-other:P1* lazy-other-of-three:P1 foreign-of-three:P1"},
      {"v6.14.7", "switch-of-three:P1 lazy-other:P1* lazy-other-of-three:P1 foreign-of-three:P1"},
      {"v6.15",
       "switch-of-three:P1* lazy-other:P1* lazy-other-of-three:P1* foreign-of-three:P1* "
       "global-asid:P1* global-asid-lazy:lazy"},
      {"v6.17.5", "global-asid-lazy:lazy"},
  };
  ASSERT_EQ(table.rows.size(), expected.size());
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    EXPECT_EQ(broken(table, row), expected.at(table.rows[row].era)) << table.rows[row].era;
}

TEST(Matrix, AHostHasToFlushTheAddressSpaceWhetherOrNotItIsLoaded) {
  if (test::kSanitized) GTEST_SKIP() << "the optimised build does this";
  const MatrixTable table = filled(scope_matrix());
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string found = broken(table, row);
    const bool enough = table.rows[row].host_scope == HostScope::kWholeTlb ||
                        table.rows[row].host_scope == HostScope::kAddressSpace;
    if (enough)
      EXPECT_EQ(found, table.rows[row].era == kEraWithFix ? "global-asid-lazy:lazy" : "");
    else
      EXPECT_EQ(found.find("switch:P1 switch-of-three:P1 "), 0u) << table.rows[row].name;
  }
}

TEST(Matrix, StopsWhenItIsTold) {
  MatrixTable table = porting_matrix();
  u32 all_cells = 0;
  fill(table, [&](u32 done, u32 all) {
    all_cells = all;
    return done < situations().size();
  });
  EXPECT_EQ(all_cells, table.rows.size() * situations().size());
  EXPECT_EQ(table.cells.size(), 1u) << "whole rows only";
}

}  // namespace
}  // namespace hvtlb::zoo
