#include "fuzz/schedules_target.h"

#include <fmt/format.h>

#include "explore/guest_system.h"
#include "explore/print_litmus.h"
#include "fuzz/op_count.h"
#include "fuzz/schedules_input.h"

namespace hvtlb::fuzz {
namespace {

using explore::Litmus;
using explore::ScheduleRun;

ScheduleRun run(const SchedulesInput& input, const Litmus& litmus) {
  explore::GuestSystem system(litmus);
  explore::Engine engine(system, input.memory);
  for (const auto& program : litmus.programs) op_count.done += program.size();
  return explore::run_schedule(system, engine, input.changes);
}

}  // namespace

Finding run_schedules(std::span<const u8> bytes, const std::function<void(Litmus&)>& plant) {
  const SchedulesInput input = read_schedules_input(bytes);
  const Era& era = *input.era;
  Litmus litmus = explore::litmus_of(input.litmus, era.rules, explore::may_free_tables(era));
  if (plant) plant(litmus);
  const ScheduleRun ran = run(input, litmus);
  const auto fault = explore::fault_of(ran);
  if (!fault) return std::nullopt;
  return fmt::format("{} under {}\n{}", *fault, era.name,
                     explore::print_run(litmus, era.name, input.memory, ran));
}

ScheduleRun run_schedule_under(std::span<const u8> bytes, const Rules& rules,
                               const std::function<void(Litmus&)>& plant) {
  const SchedulesInput input = read_schedules_input(bytes);
  Litmus litmus = explore::litmus_of(input.litmus, rules, true);
  plant(litmus);
  return run(input, litmus);
}

}  // namespace hvtlb::fuzz
