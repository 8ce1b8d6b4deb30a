// Interleavings under a fuzzer: bytes choose a litmus, a memory model and a schedule.
#pragma once

#include <functional>

#include "explore/litmus.h"
#include "explore/schedule.h"
#include "fuzz/alarm.h"

namespace hvtlb::fuzz {

/// Runs one input under one of the eras without a known race, which the bytes choose. A finding is
/// a property that does not hold in some state, or a program that never ends; the litmus file and
/// the schedule follow it. `plant`, when given, plants a fault.
Finding run_schedules(std::span<const u8> bytes,
                      const std::function<void(explore::Litmus&)>& plant = {});

/// The same input under other rules, with what else `plant` changes: how it ends.
explore::ScheduleRun run_schedule_under(std::span<const u8> bytes, const Rules& rules,
                                        const std::function<void(explore::Litmus&)>& plant);

}  // namespace hvtlb::fuzz
