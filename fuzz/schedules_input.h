// A litmus and a schedule, read from records of eight bytes: the first is the machine's, each of
// the others an operation before the programs, an operation of a program, or three changes of the
// schedule. Every string of bytes is valid.
#pragma once

#include <span>
#include <vector>

#include "explore/drawn_litmus.h"
#include "explore/litmus_file.h"
#include "explore/schedule.h"

namespace hvtlb::fuzz {

struct SchedulesInput {
  explore::MemoryModel memory = explore::MemoryModel::kSc;
  const Era* era = nullptr;  ///< one without a known race
  explore::LitmusDraw litmus;
  std::vector<explore::Change> changes;
};

SchedulesInput read_schedules_input(std::span<const u8> bytes);

/// The bytes that read back as the litmus, as far as draws can say it: ranges are those of
/// explore::drawn_range(), an era with a race becomes v6.17.5. For seeds.
std::vector<u8> seed_of(const explore::LitmusFile& file, std::span<const explore::Change> changes);

}  // namespace hvtlb::fuzz
