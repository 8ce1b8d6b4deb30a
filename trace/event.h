// What a recording says, whatever its format: one struct that every reader fills and that the
// replay takes. Nothing here knows of ftrace.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "model/types.h"

namespace hvtlb {

/// A task's number as traces name it. 0 is the idle task of every CPU.
using Pid = std::int32_t;

/// `sched_switch`: from now on `next_pid` runs on the event's CPU.
struct SchedSwitch {
  Pid prev_pid = 0;
  Pid next_pid = 0;
  std::string_view next_comm;
};

/// `sched_process_fork`: a process or a thread; which one is not said.
struct ProcessFork {
  Pid parent = 0;
  Pid child = 0;
};

/// `sched_process_exit`: a task (one thread) is gone.
struct ProcessExit {
  Pid pid = 0;
};

/// Entry of `switch_mm_irqs_off(next)`. `mm`s are kernel pointers: names, never dereferenced.
struct SwitchMmEvent {
  u64 next = 0;
};

/// Entry of `enter_lazy_tlb(mm)`.
struct EnterLazyEvent {
  u64 mm = 0;
};

/// Entry of `flush_tlb_mm_range()`.
struct FlushRangeEvent {
  u64 mm = 0;
  u64 start = 0;
  u64 end = 0;
  u8 stride_shift = kPageShift;
  bool freed_tables = false;
};

/// Entry of `native_flush_tlb_multi()`: the request and the true mask.
struct FlushMultiEvent {
  u64 mask = 0;  ///< the mask's first word: CPUs 0 to 63
  u64 mm = 0;    ///< 0: no mm, a batched unmap
  u64 start = 0;
  u64 end = 0;
  u64 new_tlb_gen = 0;
  u8 stride_shift = kPageShift;
  bool freed_tables = false;
  bool trim_cpumask = false;
};

/// `tlb_flush`: a CPU has flushed for the reason of that number (`enum tlb_flush_reason`).
struct TlbFlushEvent {};

/// The tracer dropped events of `cpu`, or of nobody knows which CPU.
struct LostEvents {
  std::optional<Cpu> cpu;
  std::optional<u64> count;
};

/// An event that the replay has no use for.
struct OtherEvent {};

using TraceAction =
    std::variant<OtherEvent, SchedSwitch, ProcessFork, ProcessExit, SwitchMmEvent, EnterLazyEvent,
                 FlushRangeEvent, FlushMultiEvent, TlbFlushEvent, LostEvents>;
inline constexpr u32 kNrTraceActions = std::variant_size_v<TraceAction>;

/// How users call the kind with this `TraceAction::index()`.
std::string_view trace_action_name(u32 index);

/// In which context the CPU was.
enum class TraceContext : u8 {
  kUnknown,    ///< the recording does not say (no flags column)
  kTask,       ///< a task, or a softirq on top of it
  kInterrupt,  ///< a hardware interrupt or NMI handler
};

struct TraceEvent {
  u64 line = 0;     ///< where it stands, from 1; 0 in binary formats
  u64 time_ns = 0;  ///< the recording's clock; meaningful when `has_time`
  bool has_time = false;
  TraceContext context = TraceContext::kUnknown;
  Cpu cpu = 0;
  Pid pid = 0;            ///< the task that ran
  std::string_view comm;  ///< its name; `<...>` when the tracer did not know it
  TraceAction action;

  // The views point into the reader's buffer: they live until its next event is asked for.
};

}  // namespace hvtlb
