#include "zoo/matrix.h"

#include <array>
#include <cassert>
#include <fmt/format.h>

#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "model/eras.h"
#include "zoo/scenarios.h"

namespace hvtlb::zoo {
namespace {

using explore::MemoryModel;

constexpr std::array<std::string_view, 16> kSituations{
    "switch",        "switch-of-three",  "lazy-same",    "lazy-other",   "lazy-other-of-three",
    "foreign",       "foreign-of-three", "two-flushers", "freed-tables", "batch",
    "trim",          "temporary",        "hotplug",      "global-asid",  "global-asid-lazy",
    "shrinking-mask"};

explore::Litmus litmus_of(std::string_view situation) {
  auto result = explore::read_litmus(std::string(litmus_text(situation)), std::string(situation));
  assert(std::holds_alternative<explore::LitmusFile>(result));
  return std::get<explore::LitmusFile>(std::move(result)).litmus;
}

MatrixCell explored(const MatrixRow& row, explore::Litmus litmus) {
  MatrixCell cell;
  cell.applies = !litmus.machine.invlpgb || row.rules.global_asid;
  if (!cell.applies) return cell;
  litmus.rules = row.rules;
  litmus.machine.hyperv = row.hyperv;
  litmus.host_scope = row.host_scope;
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    const u32 at = static_cast<u32>(model);
    explore::GuestSystem system(litmus);
    explore::Options options;
    options.model = model;
    const explore::Verdict verdict = explore::explore(system, options);
    cell.end[at] = verdict.end;
    if (verdict.violation) cell.violates[at] = verdict.violation->property;
    cell.states[at] = verdict.statistics.states;
  }
  return cell;
}

/// The builder of the fix, on whatever the era's other rules are.
Rules with_fix(Rules rules) {
  const Rules& fix = find_era(kEraWithFix)->rules;
  rules.hv_targets = fix.hv_targets;
  rules.hv_format_from = fix.hv_format_from;
  rules.hv_trim_round_native = fix.hv_trim_round_native;
  rules.hv_immediate_trim = fix.hv_immediate_trim;
  return rules;
}

}  // namespace

std::span<const std::string_view> situations() {
  return kSituations;
}

MatrixTable era_matrix() {
  MatrixTable table{"eras", "every era, natively and on Hyper-V", {}, {}};
  for (const Era& era : eras())
    for (const bool hyperv : {false, true})
      table.rows.push_back({fmt::format("{} {}", era.name, hyperv ? "hyperv" : "native"),
                            std::string(era.name), era.rules, hyperv});
  return table;
}

MatrixTable porting_matrix() {
  MatrixTable table{"porting", "the fix under review on top of every era, on Hyper-V", {}, {}};
  for (const Era& era : eras())
    if (era.name != kEraWithFix)
      table.rows.push_back(
          {fmt::format("{} + fix", era.name), std::string(era.name), with_fix(era.rules), true});
  return table;
}

MatrixTable scope_matrix() {
  static constexpr std::pair<std::string_view, HostScope> kScopes[] = {
      {"whole_tlb", HostScope::kWholeTlb},
      {"address_space", HostScope::kAddressSpace},
      {"if_cr3_matches", HostScope::kIfCr3Matches},
      {"current_pcid", HostScope::kCurrentPcid}};
  MatrixTable table{"scopes", "what a hypercall's flush removes on its target", {}, {}};
  for (const std::string_view era : {kEraBeforeFix, kEraWithFix})
    for (const auto& [name, scope] : kScopes)
      table.rows.push_back(
          {fmt::format("{} {}", era, name), std::string(era), find_era(era)->rules, true, scope});
  return table;
}

void fill(MatrixTable& table, const std::function<bool(u32 done, u32 all)>& watch) {
  std::vector<explore::Litmus> litmuses;
  for (const std::string_view each : kSituations) litmuses.push_back(litmus_of(each));
  const u32 all = static_cast<u32>(table.rows.size() * litmuses.size());
  u32 done = 0;
  for (const MatrixRow& row : table.rows) {
    std::vector<MatrixCell> cells;
    for (const explore::Litmus& litmus : litmuses) {
      if (!watch(done++, all)) return;
      cells.push_back(explored(row, litmus));
    }
    table.cells.push_back(std::move(cells));
  }
}

bool is_known(const MatrixRow& row, Property property) {
  for (const KnownFault& fault : find_era(row.era)->known_faults)
    if (fault.property == hvtlb::name_of(property) && (fault.interleaving || fault.zoo == "Z25a"))
      return true;
  return false;
}

}  // namespace hvtlb::zoo
