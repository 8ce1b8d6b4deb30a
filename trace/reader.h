// The seam between formats and the replay: a stream of events, and what was met on the way.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "trace/event.h"

namespace hvtlb {

/// What reading has met so far.
struct ReadStats {
  std::string format;  ///< for people, for example `ftrace text`
  u64 lines = 0;
  u64 bytes = 0;
  std::array<u64, kNrTraceActions> events{};  ///< by `TraceAction::index()`
  u64 skipped = 0;                            ///< lines that could not be read
  u64 first_skipped = 0;                      ///< the first one's number, 0 when there is none
  u64 lost_reports = 0;                       ///< how often the tracer said that it lost events
  u64 lost_events = 0;                        ///< as far as it gave numbers
  u64 overwritten = 0;             ///< events written and no longer in the buffer, from the header
  std::optional<u32> header_cpus;  ///< what the header says of CPUs
  std::string error;               ///< why reading ended before the end of the file, or empty
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;

  /// The next event; false at the end. A line that cannot be read is counted and skipped.
  virtual bool next(TraceEvent& event) = 0;

  virtual const ReadStats& stats() const = 0;
};

struct OpenedTrace {
  std::unique_ptr<TraceReader> reader;  ///< null: `error` says why
  std::string error;                    ///< one line: what was found, what was expected
};

/// Opens a file, or standard input for `-`, and recognises its format by content.
OpenedTrace open_trace(const std::string& path);

/// The highest CPU that any event of the file names, plus one; 0 when it has no event. Reads the
/// whole file: not for standard input.
u32 count_trace_cpus(const std::string& path);

}  // namespace hvtlb
