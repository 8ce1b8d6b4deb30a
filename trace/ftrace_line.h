// One line of ftrace text (`/sys/kernel/tracing/trace`):
//
//     comm-pid     (tgid) [cpu] flags  timestamp: event: payload
//
// The name may hold anything, the TGID and flags columns may be missing.
#pragma once

#include <string_view>

#include "trace/event.h"

namespace hvtlb {

/// What stands before an event's payload.
struct FtracePrefix {
  std::string_view comm;
  Pid pid = 0;
  Cpu cpu = 0;
  std::string_view flags;  ///< empty: no such column
  u64 time_ns = 0;
  bool has_time = false;   ///< false: the clock is a counter without a unit
  std::string_view event;  ///< its name; empty when the rest is not `name: ...`
  std::string_view payload;
};

/// Splits a line; false when it is none.
bool split_ftrace_line(std::string_view line, FtracePrefix& prefix);

/// `CPU:3 [LOST 12 EVENTS]`, `[LOST EVENTS]`, `CPU:7 [204600 EVENTS DROPPED]`.
std::optional<LostEvents> parse_lost_events(std::string_view line);

/// What the header says: `entries-in-buffer/entries-written: 621/621   #P:8`.
struct FtraceHeader {
  u64 in_buffer = 0;
  u64 written = 0;
  u32 nr_cpus = 0;
};
std::optional<FtraceHeader> parse_ftrace_header(std::string_view line);

}  // namespace hvtlb
