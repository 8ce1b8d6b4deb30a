// Every situation of the catalogue under many rules, as a table: which kernels hold, where the fix
// may be ported to, and what it needs of a host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/memory_model.h"
#include "explore/search.h"
#include "model/checks.h"
#include "model/rules.h"
#include "model/truth.h"

namespace hvtlb::zoo {

/// The litmuses that are no fault of their own: what two CPUs do to each other.
std::span<const std::string_view> situations();

/// The rules and the machine of one line of the table.
struct MatrixRow {
  std::string name;  ///< `v6.15 hyperv`
  std::string era;   ///< whose known faults explain what breaks
  Rules rules;
  bool hyperv = true;
  HostScope host_scope = HostScope::kWholeTlb;
};

/// What comes out of one situation under one row's rules, by memory model.
struct MatrixCell {
  bool applies = true;  ///< false: the era does not know what the situation is about
  explore::End end[2] = {};
  std::optional<Property> violates[2];
  u64 states[2] = {};

  const std::optional<Property>& violated(explore::MemoryModel model) const {
    return violates[static_cast<u32>(model)];
  }
};

struct MatrixTable {
  std::string_view name;
  std::string_view about;
  std::vector<MatrixRow> rows;
  std::vector<std::vector<MatrixCell>> cells;  ///< by row and situation
};

/// Every era, natively and on Hyper-V.
MatrixTable era_matrix();
/// The fix under review on top of every era, on Hyper-V (zoo Z42).
MatrixTable porting_matrix();
/// Every `HostScope`, under the era before the fix and under the fix.
MatrixTable scope_matrix();

/// Explores every cell. `watch` is told how many are done; it returns false to stop.
void fill(MatrixTable& table, const std::function<bool(u32 done, u32 all)>& watch);

/// Whether the era's list of known faults has one of this property that this cell can show.
bool is_known(const MatrixRow& row, Property property);

}  // namespace hvtlb::zoo
