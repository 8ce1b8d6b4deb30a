#include "report/replay_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hvtlb {
namespace {

using Json = nlohmann::json;

std::string hex(u64 value) {
  return fmt::format("{:#x}", value);
}

/// Names of tasks are bytes that the user's programs chose: what is not UTF-8 becomes `?`.
std::string printable(std::string_view comm) {
  std::string text;
  for (const char c : comm) text += c >= ' ' && c <= '~' ? c : '?';
  return text;
}

Json read_json(const ReplayResult& result) {
  const ReadStats& read = result.read;
  Json events = Json::object();
  for (u32 at = 0; at < kNrTraceActions; ++at)
    if (trace_action_name(at) != "lost")
      events[std::string(trace_action_name(at))] = read.events[at];
  Json json{{"format", read.format},
            {"lines", read.lines},
            {"events", events},
            {"skipped_lines", read.skipped},
            {"lost_reports", read.lost_reports},
            {"lost_events", read.lost_events},
            {"overwritten_events", read.overwritten},
            {"events_beyond_cpus", result.beyond_cpus},
            {"events_without_flags", result.unknown_context},
            {"has_time", result.has_time}};
  if (read.skipped != 0) json["first_skipped_line"] = read.first_skipped;
  return json;
}

Json conformance_json(const Conformance& c) {
  Json json{{"masks", c.masks},
            {"masks_equal", c.masks_equal},
            {"masks_taken_over", c.masks_first_sight},
            {"masks_of_batches", c.masks_batched},
            {"generations", c.generations},
            {"generations_equal", c.generations_equal},
            {"joined_late", c.joined_late},
            {"multi_not_seen", c.multi_not_seen}};
  if (c.first_mismatch_line != 0)
    json["first_difference"] = {{"line", c.first_mismatch_line},
                                {"recorded", hex(c.first_mismatch_recorded)},
                                {"model", hex(c.first_mismatch_model)}};
  return json;
}

Json era_json(const EraTotals& era, bool recorded) {
  Json excess = Json::object();
  for (u32 at = 0; at < kNrExcess; ++at)
    excess[std::string(name_of(Excess{static_cast<u8>(at)}))] = era.excess[at];
  Json knowledge = Json::object();
  for (u32 at = 0; at < kNrKnowledge; ++at)
    knowledge[std::string(name_of(Knowledge{static_cast<u8>(at)}))] = era.knowledge[at];
  Json violations = Json::object();
  for (u32 at = 0; at < kNrJudged; ++at)
    violations[fmt::format("P{}", at + 1)] = era.violations[at];
  Json json{{"name", era.name},
            {"recorded", recorded},
            {"path", era.hyperv ? "hyperv" : "native"},
            {"flushes", era.flushes},
            {"local", era.local},
            {"nobody", era.nobody},
            {"native", era.native},
            {"trim_rounds", era.trim_rounds},
            {"periodic_trims", era.periodic_trims},
            {"immediate_trims", era.immediate_trims},
            {"native_without_ipi", era.no_ipi},
            {"ipis", era.ipis},
            {"hypercalls", era.hypercalls},
            {"all_processor_calls", era.all_processors},
            {"targets", era.targets},
            {"reached", era.reached},
            {"needed", era.needed},
            {"missed", era.missed},
            {"excess", excess},
            {"known", knowledge},
            {"violations", violations},
            {"verdict", era.nr_violations() == 0 ? "holds" : "violated"}};
  if (era.first_violation) json["first_violation"] = to_string(*era.first_violation);
  return json;
}

}  // namespace

Json replay_json(const ReplayResult& result, const std::string& file) {
  Json eras = Json::array();
  for (const EraTotals& era : result.eras)
    eras.push_back(era_json(era, &era == &result.eras.front()));
  Json mms = Json::array();
  for (const MmRow& row : result.by_mm)
    mms.push_back({{"mm", row.serial},
                   {"comm", printable(row.comm)},
                   {"flushes", row.tally.flushes},
                   {"reached", row.tally.reached},
                   {"needless", row.tally.needless}});
  Json comms = Json::array();
  for (const auto& [comm, tally] : result.by_comm)
    comms.push_back({{"comm", printable(comm)},
                     {"flushes", tally.flushes},
                     {"reached", tally.reached},
                     {"needless", tally.needless}});
  Json victims = Json::array();
  for (const VictimRow& row : result.victims)
    victims.push_back({{"cpu", row.cpu}, {"reached", row.reached}, {"needless", row.needless}});
  return {{"schema", "hvtlb-replay-1"},
          {"file", printable(file)},
          {"nr_cpus", result.nr_cpus},
          {"hz", result.hz},
          {"duration_ns", result.duration_ns},
          {"nr_mms", result.mms},
          {"enough", result.enough()},
          {"read", read_json(result)},
          {"conformance", conformance_json(result.conformance)},
          {"eras", eras},
          {"by_mm", mms},
          {"by_comm", comms},
          {"by_victim_cpu", victims}};
}

Json replayed_flush_json(const ReplayedFlush& flush) {
  Json eras = Json::array();
  for (const FlushRecord* record : flush.eras)
    eras.push_back({{"outcome", name_of(record->outcome)},
                    {"trim_round", record->trim},
                    {"all_processors", record->swept_by_all},
                    {"mask", record->mask.to_list()},
                    {"needed", record->needed.to_list()},
                    {"sent", record->sent.to_list()}});
  Json json{{"line", flush.line},    {"time_ns", flush.time_ns},
            {"cpu", flush.cpu},      {"comm", printable(flush.comm)},
            {"mm", flush.mm_serial}, {"known", name_of(flush.knowledge)},
            {"eras", eras}};
  if (flush.request != nullptr) {
    json["start"] = hex(flush.request->start);
    json["end"] = hex(flush.request->end);
    json["stride_shift"] = flush.request->stride_shift;
    json["freed_tables"] = flush.request->freed_tables;
  }
  if (flush.recorded_mask) json["recorded_mask"] = hex(*flush.recorded_mask);
  return json;
}

}  // namespace hvtlb
