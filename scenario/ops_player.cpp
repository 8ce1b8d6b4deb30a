#include "scenario/ops_player.h"

namespace hvtlb {

OpsPlayer::OpsPlayer(Machine& machine, u32 nr_processes) : machine_(machine), mm_of_{kInitMm} {
  for (u32 process = 1; process <= nr_processes; ++process) {
    machine_.apply({.kind = OpKind::kNewMm});
    mm_of_.push_back(machine_.last_new_mm());
  }
}

Op OpsPlayer::translate(const Op& op) const {
  Op translated = op;
  translated.mm = mm_of_[op.mm];
  return translated;
}

OpError OpsPlayer::play(const Op& op) {
  const OpError error = machine_.apply(translate(op));
  if (op.kind == OpKind::kNewMm && error == OpError::kNone) mm_of_[op.mm] = machine_.last_new_mm();
  return error;
}

}  // namespace hvtlb
