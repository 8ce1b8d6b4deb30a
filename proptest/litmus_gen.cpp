// Random litmuses and schedules.
#include <fmt/format.h>

#include "explore/counterexample.h"
#include "explore/guest_system.h"
#include "explore/print_litmus.h"
#include "proptest/case.h"
#include "proptest/litmus_case.h"

namespace hvtlb::proptest {
namespace {

using explore::Change;
using explore::LitmusDraw;
using explore::MemoryModel;
using explore::OpDraw;

constexpr u32 kMostChanges = 24;
constexpr u32 kBytes = 256;

rc::Gen<u8> bytes() {
  return rc::gen::map(evenly(0, kBytes), [](u32 byte) { return static_cast<u8>(byte); });
}

rc::Gen<std::vector<OpDraw>> op_draws(u32 most) {
  const auto one =
      rc::gen::map(rc::gen::tuple(bytes(), bytes(), bytes(), bytes()), [](const auto& t) {
        return OpDraw{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)};
      });
  // Sizes of RapidCheck go up to 100: that many operations at most.
  return rc::gen::scale(most / 100.0, rc::gen::container<std::vector<OpDraw>>(one));
}

/// Changes close to each other in some cases, far apart in others.
rc::Gen<std::vector<Change>> change_lists() {
  return rc::gen::mapcat(evenly(0, 8), [](u32 log_distance) {
    const auto one =
        rc::gen::map(rc::gen::pair(evenly(0, 1u << log_distance), bytes()), [](const auto& p) {
          return Change{static_cast<u8>(p.first), p.second};
        });
    return rc::gen::scale(kMostChanges / 100.0, rc::gen::container<std::vector<Change>>(one));
  });
}

rc::Gen<LitmusDraw> litmus_draws(std::optional<bool> hyperv) {
  constexpr u32 kMostBefore = 16;
  constexpr u32 kMostSteps = 20;
  return rc::gen::map(
      rc::gen::tuple(bytes(), bytes(), bytes(), bytes(), op_draws(kMostBefore),
                     op_draws(kMostSteps)),
      [hyperv](const std::tuple<u8, u8, u8, u8, std::vector<OpDraw>, std::vector<OpDraw>>& t) {
        LitmusDraw draw{{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)},
                        std::get<4>(t),
                        std::get<5>(t)};
        u8& flags = draw.machine.flags;
        if (hyperv) flags = *hyperv ? flags & ~explore::kDrawNative : flags | explore::kDrawNative;
        return draw;
      });
}

}  // namespace

bool has_race(const Era& era) {
  for (const KnownFault& fault : era.known_faults)
    if (fault.interleaving && fault.zoo != "Z41") return true;
  return false;
}

bool frees_tables_safely(const Era& era) {
  for (const KnownFault& fault : era.known_faults)
    if (fault.zoo == "Z41") return false;
  return true;
}

rc::Gen<LitmusCase> litmus_cases(const std::string& era, const Rules& rules, bool freed_tables,
                                 std::optional<bool> hyperv) {
  return rc::gen::map(
      rc::gen::tuple(litmus_draws(hyperv), rc::gen::arbitrary<bool>(), change_lists()),
      [era, rules, freed_tables](const std::tuple<LitmusDraw, bool, std::vector<Change>>& t) {
        return LitmusCase{era, explore::litmus_of(std::get<0>(t), rules, freed_tables),
                          std::get<1>(t) ? MemoryModel::kTso : MemoryModel::kSc, std::get<2>(t)};
      });
}

rc::Gen<LitmusCase> litmus_cases(const Era& era) {
  return litmus_cases(std::string(era.name), era.rules, frees_tables_safely(era));
}

explore::ScheduleRun run_case(const LitmusCase& c, const explore::ScheduleOptions& options) {
  explore::GuestSystem system(c.litmus);
  explore::Engine engine(system, c.memory);
  return explore::run_schedule(system, engine, c.changes, options);
}

std::optional<std::string> fault_of(const explore::ScheduleRun& run) {
  switch (run.end) {
    case explore::ScheduleEnd::kFinished: return std::nullopt;
    case explore::ScheduleEnd::kViolation: return to_string(*run.violation);
    case explore::ScheduleEnd::kStuck: return "programs wait for each other";
    case explore::ScheduleEnd::kBound: return "programs do not end";
  }
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, const LitmusCase& c) {
  const explore::ScheduleRun run = run_case(c);
  out << explore::print_litmus(c.litmus, c.era)
      << fmt::format("# memory: {}; {}\n", c.memory == MemoryModel::kSc ? "sc" : "tso",
                     fault_of(run).value_or("holds"));
  explore::GuestSystem system(c.litmus);
  system.note_events();
  const auto rows = explore::rows_of(system, c.memory, run.taken);
  const std::string table = explore::table_of(rows, c.litmus.machine.nr_cpus);
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find('\n', at);
    out << "# " << table.substr(at, end - at) << '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace hvtlb::proptest
