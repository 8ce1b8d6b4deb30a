// What an explored CPU does next, and what may happen next anywhere.
#pragma once

#include "model/policy.h"
#include "model/types.h"

namespace hvtlb::explore {

/// How many CPUs an explored machine has at most: more states than these give fit nowhere.
inline constexpr u32 kMaxExploredCpus = 4;

/// Everything that other CPUs can see or be seen by. Between two steps a CPU does only what is its
/// own affair.
enum class StepKind : u8 {
  kLoad,
  kStore,
  kLocked,
  kCmpXchg,
  kWaitWhile,  ///< a load that goes on when it gives another value than `expected`
  kFence,
  kIrqsOff,
  kIrqsOn,
  kWriteCr3,
  kInvlpg,
  kInvlpgb,  ///< a broadcast begins
  kTlbsync,  ///< goes on when the broadcasts have taken effect everywhere
  kSendIpis,
  kAwaitIpis,   ///< the sender goes on when every handler has run
  kEndHandler,  ///< return from interrupt
  kHypercall,
  kStopMachine,  ///< goes on when every other CPU is between two operations, at rest
  kAwaitHost,    ///< the call returns when it has taken effect everywhere
  kChoose,       ///< the program goes on in one of several ways
};

/// Whether the store buffer has to be empty: LOCKed operations and fences, writes of CR3, return
/// from interrupt, a hypercall's exit to the host, and the sending of IPIs, which puts a request
/// on each target's list by a LOCKed operation.
constexpr bool needs_empty_buffer(StepKind kind) {
  switch (kind) {
    case StepKind::kLocked:
    case StepKind::kCmpXchg:
    case StepKind::kFence:
    case StepKind::kWriteCr3:
    case StepKind::kSendIpis:
    case StepKind::kEndHandler:
    case StepKind::kHypercall: return true;
    default: return false;
  }
}

/// A step that may come out in more ways is taken as two.
inline constexpr u32 kMaxOutcomes = 4;

struct CpuStep {
  StepKind kind = StepKind::kFence;
  const u64* word = nullptr;  ///< of an access
  u64 value = 0;              ///< stored, or combined with
  u64 expected = 0;           ///< of a kCmpXchg or kWaitWhile
  RmwOp op = RmwOp::kAdd;
  Site site{"", 0};
  u32 outcomes = 1;  ///< 1 to kMaxOutcomes: in how many ways it may come out
};

/// One thing that may happen next, as a number below kNrActions.
class Action {
 public:
  enum class Kind : u8 {
    kRun,      ///< `cpu` takes its next step
    kDrain,    ///< the oldest store in `cpu`'s buffer reaches memory
    kDeliver,  ///< `cpu` takes the IPI that `other` has sent
    kEffect,   ///< the hypercall of `other` takes effect on `cpu`
  };

  constexpr Action() = default;
  constexpr explicit Action(u8 number) : number_(number) {}
  static constexpr Action run(Cpu cpu, u32 outcome = 0) { return Action(Kind::kRun, outcome, cpu); }
  static constexpr Action drain(Cpu cpu) { return Action(Kind::kDrain, 0, cpu); }
  static constexpr Action deliver(Cpu cpu, Cpu sender) {
    return Action(Kind::kDeliver, sender, cpu);
  }
  static constexpr Action effect(Cpu cpu, Cpu caller) { return Action(Kind::kEffect, caller, cpu); }

  constexpr u8 number() const { return number_; }
  constexpr u64 bit() const { return u64{1} << number_; }
  constexpr Kind kind() const { return static_cast<Kind>(number_ / 16); }
  /// Where it happens.
  constexpr Cpu cpu() const { return number_ % 4; }
  /// The sender or caller of a kDeliver or kEffect; the outcome of a kRun.
  constexpr Cpu other() const { return number_ / 4 % 4; }

  bool operator==(const Action&) const = default;

 private:
  constexpr Action(Kind kind, Cpu other, Cpu cpu)
      : number_(static_cast<u8>(static_cast<u32>(kind) * 16 + other * 4 + cpu)) {}

  u8 number_ = 0;
};
inline constexpr u32 kNrActions = 64;
static_assert(kMaxExploredCpus == 4, "Action has two bits for a CPU");

}  // namespace hvtlb::explore
