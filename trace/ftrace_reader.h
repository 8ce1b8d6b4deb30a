// Reads ftrace text as a stream of events.
#pragma once

#include "trace/line_source.h"
#include "trace/reader.h"

namespace hvtlb {

class FtraceReader final : public TraceReader {
 public:
  explicit FtraceReader(std::unique_ptr<LineSource> source);

  bool next(TraceEvent& event) override;
  const ReadStats& stats() const override { return stats_; }

 private:
  bool read_line(std::string_view line, TraceEvent& event);
  void skip();

  std::unique_ptr<LineSource> source_;
  ReadStats stats_;
};

/// Whether a text looks like ftrace's: its header, or a line that splits.
bool looks_like_ftrace(std::string_view text);

}  // namespace hvtlb
