// Random litmuses and schedules.
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

// All sizes come up from the first case on.
constexpr int kMostChanges = 24;
constexpr u32 kBytes = 256;

rc::Gen<u8> bytes() {
  return rc::gen::map(evenly(0, kBytes), [](u32 byte) { return static_cast<u8>(byte); });
}

rc::Gen<std::vector<OpDraw>> op_draws(u32 most) {
  const auto one =
      rc::gen::map(rc::gen::tuple(bytes(), bytes(), bytes(), bytes()), [](const auto& t) {
        return OpDraw{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t)};
      });
  return rc::gen::resize(static_cast<int>(most), rc::gen::container<std::vector<OpDraw>>(one));
}

/// Changes close to each other in some cases, far apart in others.
rc::Gen<std::vector<Change>> change_lists() {
  return rc::gen::mapcat(evenly(2, 8), [](u32 log_distance) {
    const auto one =
        rc::gen::map(rc::gen::pair(evenly(0, 1u << log_distance), bytes()), [](const auto& p) {
          return Change{static_cast<u8>(p.first), p.second};
        });
    return rc::gen::resize(kMostChanges, rc::gen::container<std::vector<Change>>(one));
  });
}

rc::Gen<LitmusDraw> litmus_draws(std::optional<bool> hyperv) {
  constexpr u32 kMostBefore = 20;
  constexpr u32 kMostSteps = 24;
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
  return litmus_cases(std::string(era.name), era.rules, explore::may_free_tables(era));
}

explore::ScheduleRun run_case(const LitmusCase& c, const explore::ScheduleOptions& options) {
  explore::GuestSystem system(c.litmus);
  explore::Engine engine(system, c.memory);
  return explore::run_schedule(system, engine, c.changes, options);
}

std::ostream& operator<<(std::ostream& out, const LitmusCase& c) {
  return out << explore::print_run(c.litmus, c.era, c.memory, run_case(c));
}

}  // namespace hvtlb::proptest
