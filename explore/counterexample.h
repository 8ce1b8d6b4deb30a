// A schedule in words, step by step: what somebody reads who never saw the fault.
#pragma once

#include <string>
#include <vector>

#include "explore/search.h"

namespace hvtlb::explore {

struct Row {
  Action action;
  Cpu cpu = 0;          ///< whose column
  std::string routine;  ///< the guest's routine; empty for what the hardware or the host does
  int line = 0;         ///< where in it, for whoever wants to look
  std::string text;     ///< `reads B.tlb_gen = 0x0`
};

/// What each action of the schedule does. REQUIRES: the schedule is possible.
std::vector<Row> rows_of(System& system, MemoryModel model, std::span<const Action> schedule);

/// What came of running a schedule that may be from anywhere.
struct Rerun {
  std::vector<Row> rows;               ///< one an action; fewer: the next one was not possible
  std::string possible;                ///< what was possible instead of it
  std::optional<Violation> violation;  ///< the first
  std::size_t violated_after = 0;      ///< actions
};
Rerun rerun(System& system, MemoryModel model, std::span<const Action> schedule);

/// `CPU 1 takes its next step`.
std::string text_of(Action action);

/// The rows as a table with one column a CPU.
std::string table_of(const std::vector<Row>& rows, u32 nr_cpus);

}  // namespace hvtlb::explore
