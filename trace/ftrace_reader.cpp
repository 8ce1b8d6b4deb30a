#include "trace/ftrace_reader.h"

#include <algorithm>

#include "trace/ftrace_line.h"
#include "trace/ftrace_payload.h"
#include "trace/scan.h"

namespace hvtlb {
namespace {

/// A line end that a recording pasted into JavaScript carries.
constexpr std::string_view kEscapedLineEnd = "\\n\\";

TraceContext context_of(std::string_view flags) {
  if (flags.empty()) return TraceContext::kUnknown;
  // Hard interrupt, hard interrupt on top of a softirq, NMI.
  return flags.find_first_of("hHzZ") != std::string_view::npos ? TraceContext::kInterrupt
                                                               : TraceContext::kTask;
}

}  // namespace

FtraceReader::FtraceReader(std::unique_ptr<LineSource> source) : source_(std::move(source)) {
  stats_.format = "ftrace text";
  // The header is known before the first event is asked for.
  std::string_view head = source_->peek();
  while (head.starts_with('#')) {
    const std::size_t length = std::min(head.find('\n'), head.size());
    if (const auto header = parse_ftrace_header(head.substr(0, length));
        header && header->nr_cpus != 0)
      stats_.header_cpus = header->nr_cpus;
    head.remove_prefix(std::min(length + 1, head.size()));
  }
}

void FtraceReader::skip() {
  ++stats_.skipped;
  if (stats_.first_skipped == 0) stats_.first_skipped = source_->lines();
}

bool FtraceReader::read_line(std::string_view line, TraceEvent& event) {
  FtracePrefix prefix;
  if (split_ftrace_line(line, prefix)) {
    event.cpu = prefix.cpu;
    event.pid = prefix.pid;
    event.comm = prefix.comm;
    event.time_ns = prefix.time_ns;
    event.has_time = prefix.has_time;
    event.context = context_of(prefix.flags);
    if (parse_ftrace_payload(prefix.event, prefix.payload, event.action)) return true;
  } else if (const auto lost = parse_lost_events(line)) {
    event.action = *lost;
    event.has_time = false;
    ++stats_.lost_reports;
    stats_.lost_events += lost->count.value_or(0);
    return true;
  }
  skip();
  return false;
}

bool FtraceReader::next(TraceEvent& event) {
  std::string_view line;
  while (source_->next(line)) {
    if (line.ends_with(kEscapedLineEnd)) line.remove_suffix(kEscapedLineEnd.size());
    if (line.empty()) continue;
    if (line.front() == '#') {
      if (const auto header = parse_ftrace_header(line); header && header->written != 0)
        stats_.overwritten += header->written - std::min(header->in_buffer, header->written);
      continue;
    }
    event.line = source_->lines();
    if (source_->cut())
      skip();
    else if (read_line(line, event)) {
      ++stats_.events[event.action.index()];
      stats_.lines = source_->lines();
      stats_.bytes = source_->bytes();
      return true;
    }
  }
  stats_.lines = source_->lines();
  stats_.bytes = source_->bytes();
  stats_.error = source_->error();
  return false;
}

bool looks_like_ftrace(std::string_view text) {
  if (text.starts_with("# tracer:")) return true;
  FtracePrefix prefix;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (split_ftrace_line(line, prefix) || parse_ftrace_header(line)) return true;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return false;
}

}  // namespace hvtlb
