#include "report/compare_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flush/wire.h"

namespace hvtlb {
namespace {

using Json = nlohmann::json;

Json counts_json(const FlushCounts& c) {
  Json excess = Json::object();
  for (u32 at = 0; at < kNrExcess; ++at)
    excess[std::string(name_of(Excess{static_cast<u8>(at)}))] = c.excess[at];
  return {{"flushes", c.flushes},
          {"local", c.local},
          {"nobody", c.nobody},
          {"native", c.native},
          {"trim_rounds", c.trim_rounds},
          {"periodic_trims", c.periodic_trims},
          {"immediate_trims", c.immediate_trims},
          {"native_without_ipi", c.no_ipi},
          {"ipis", c.ipis},
          {"trim_ipis", c.trim_ipis},
          {"hypercalls", c.hypercalls},
          {"all_processor_calls", c.all_processors},
          {"ex_calls", c.ex_calls},
          {"targets", c.targets},
          {"input_bytes", c.bytes},
          {"reached", c.reached},
          {"needed", c.needed},
          {"missed", c.missed},
          {"excess", excess},
          {"swept_by_all_processors", c.swept}};
}

Json row_json(const FlushRow& row) {
  const FlushRecord& record = row.record;
  Json calls = Json::array();
  for (const HypercallRecord& call : record.hypercalls)
    calls.push_back({{"code", hv::call_code(call.control)},
                     {"rep_count", hv::rep_count(call.control)},
                     {"banks", hv::variable_header_words(call.control)},
                     {"bytes", 8 * call.input.size()},
                     {"status", hv::result_status(call.result)}});
  Json excess = Json::object();
  for (u32 at = 0; at < kNrExcess; ++at)
    if (record.excess[at].any())
      excess[std::string(name_of(Excess{static_cast<u8>(at)}))] = record.excess[at].to_list();
  return {{"first", row.first},
          {"count", row.count},
          {"caller", name_of(row.caller)},
          {"process", row.process},
          {"pages", row.pages},
          {"cpu", record.request.initiating_cpu},
          {"freed_tables", record.request.freed_tables},
          {"trim_round", record.trim},
          {"mask", record.mask.to_list()},
          {"needed", record.needed.to_list()},
          {"native", record.native.to_list()},
          {"sent", record.sent.to_list()},
          {"outcome", name_of(record.outcome)},
          {"all_processors", record.swept_by_all},
          {"excess", excess},
          {"calls", calls}};
}

Json era_json(const EraResult& era, std::size_t rows, const CostModel* cost) {
  Json rules = Json::object();
  for (const RulesField& field : rules_fields())
    rules[std::string(field.name)] = field.value_of(era.rules.rules);
  Json callers = Json::object();
  for (const auto& [caller, counts] : era.by_caller)
    callers[std::string(name_of(caller))] = counts_json(counts);
  Json listed = Json::array();
  u64 flushes_listed = 0;
  for (std::size_t at = 0; at < std::min(rows, era.rows.size()); ++at) {
    listed.push_back(row_json(era.rows[at]));
    flushes_listed += era.rows[at].count;
  }
  Json violations = Json::array();
  for (std::size_t at = 0; at < era.violations.size(); ++at) {
    const Violation& v = era.violations[at];
    Json json{{"property", name_of(v.property)},
              {"cpu", v.cpu},
              {"mm", v.mm},
              {"page", v.va & kPageMask},
              {"why", v.why}};
    if (era.explained_by[at] != nullptr) json["known_fault"] = era.explained_by[at]->zoo;
    violations.push_back(json);
  }
  Json masks = Json::array();
  for (const auto& mask : era.masks)
    masks.push_back(
        {{"process", mask.process}, {"in_mask", mask.in_mask}, {"running", mask.running}});
  Json json{{"name", era.rules.name},
            {"rules", rules},
            {"verdict", era.nr_violations == 0 ? "holds" : "violated"},
            {"known_fault", era.nr_violations != 0 && era.known_fault},
            {"operations", era.operations},
            {"total", counts_json(era.total)},
            {"measured", {{"iterations", era.iterations}, {"counts", counts_json(era.measured)}}},
            {"by_caller", callers},
            {"flushes", listed},
            {"flushes_left_out", era.total.flushes - flushes_listed},
            {"violations", violations},
            {"nr_violations", era.nr_violations},
            {"nr_unexplained", era.nr_unexplained},
            {"masks_at_end", masks}};
  if (cost != nullptr)
    json["cost_us"] = {{"total", cost->microseconds(era.total)},
                       {"measured", cost->microseconds(era.measured)}};
  return json;
}

}  // namespace

Json compare_json(const std::vector<Comparison>& runs, std::size_t rows, const CostModel* cost) {
  Json list = Json::array();
  for (const Comparison& run : runs) {
    Json eras = Json::array();
    for (const EraResult& era : run.eras) eras.push_back(era_json(era, rows, cost));
    Json explanations = Json::array();
    for (std::size_t at = 1; at < run.eras.size(); ++at)
      explanations.push_back({{"before", run.eras[0].rules.name},
                              {"after", run.eras[at].rules.name},
                              {"sentences", explain(run.eras[0], run.eras[at])}});
    list.push_back({{"scenario", run.scenario},
                    {"title", run.title},
                    {"about", run.about},
                    {"cpus", run.machine.nr_cpus},
                    {"host", run.host},
                    {"interrupted", run.stopped},
                    {"eras", eras},
                    {"explanations", explanations}});
  }
  Json json{{"schema", "hvtlb-compare-1"}, {"runs", list}};
  if (cost != nullptr)
    json["cost_model_us"] = {{"hypercall", cost->hypercall},
                             {"target", cost->target},
                             {"ipi", cost->ipi},
                             {"local", cost->local}};
  return json;
}

}  // namespace hvtlb
