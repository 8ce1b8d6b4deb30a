// Plays operations that name processes on a machine: knows which mm each process has by now.
#pragma once

#include <vector>

#include "scenario/machine.h"

namespace hvtlb {

class OpsPlayer {
 public:
  /// Makes an mm for each of the processes 1 to `nr_processes`. `machine` must outlive the player.
  OpsPlayer(Machine& machine, u32 nr_processes);

  /// The operation with the process's mm in place of the process. REQUIRES: `op.mm` is at most
  /// `nr_processes`.
  Op translate(const Op& op) const;

  /// Runs it; kNewMm gives the process `op.mm` its new mm.
  OpError play(const Op& op);

 private:
  Machine& machine_;
  std::vector<MmId> mm_of_;  // by process; slot 0 is init_mm
};

}  // namespace hvtlb
