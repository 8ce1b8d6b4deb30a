// One operation of the machine. Scenarios, litmus files, `hvtlb step`, property tests and fuzzers
// all come down to a sequence of these.
#pragma once

#include <string_view>

#include "model/types.h"

namespace hvtlb {

enum class OpKind : u8 {
  kSwitchMm,             ///< `cpu` runs `mm` from now on (`switch_mm_irqs_off`)
  kEnterLazy,            ///< `cpu` runs a kernel thread or idles, on the borrowed mm
  kLeaveMm,              ///< `cpu` leaves the borrowed mm for `init_mm`
  kUseTemporaryMm,       ///< `cpu` loads `mm` for a moment, interrupts off
  kUnuseTemporaryMm,     ///< `cpu` goes back
  kFlushMmRange,         ///< the pages of the request just changed; `cpu` flushes them
  kBatchAdd,             ///< one page of `mm`, at `start`, was unmapped; its flush is deferred
  kBatchFlush,           ///< `cpu` flushes what was deferred
  kFlushBatchedPending,  ///< `cpu` relies on what batches have deferred for `mm`
  kNestedReclaim,        ///< the task with the batch reclaims again while it reclaims
  kUseGlobalAsid,        ///< `cpu` gives `mm` a global ASID
  kEnableLam,            ///< the task on `cpu` enables LAM for its mm
  kTick,                 ///< `jiffies` go by
  kOffline,
  kOnline,
  kTouch,   ///< code on `cpu` uses its mm's translations (P1 is judged)
  kNewMm,   ///< a new mm; slots are given lowest first
  kDropMm,  ///< the last user of `mm` is gone; it goes when no CPU has it loaded
};
inline constexpr u32 kNrOpKinds = 18;

std::string_view name_of(OpKind kind);

/// Fields that a kind does not name are ignored.
struct Op {
  OpKind kind = OpKind::kTick;
  u8 stride_shift = kPageShift;
  bool freed_tables = false;
  Cpu cpu = 0;
  MmId mm = kInitMm;
  u64 start = 0;
  u64 end = 0;
  u64 jiffies = 0;

  bool operator==(const Op&) const = default;
};

/// Why the machine refuses an operation; it has then changed nothing.
enum class OpError : u8 {
  kNone,
  kNoSuchCpu,
  kCpuOffline,
  kCpuOnline,
  kCpuNotPresent,
  kNoSuchMm,
  kMmDropped,
  kNotForInitMm,
  kTooManyMms,
  kInsideTemporaryMm,
  kNotInsideTemporaryMm,
  kIpiInsideTemporaryMm,
  kTooManyPending,
  kStride,
  kRunsNoUser,
  kNoLam,
  kNoGlobalAsids,
};

/// One clause: what was found and what was expected.
std::string_view message_of(OpError error);

}  // namespace hvtlb
