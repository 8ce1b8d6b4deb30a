#include "trace/ftrace_line.h"

#include <algorithm>

#include "trace/scan.h"

namespace hvtlb {
namespace {

/// How far from the left the CPU column may begin: name, pid and TGID with generous padding.
constexpr std::size_t kMaxCpuColumn = 96;

constexpr std::size_t kMinFlags = 4;
constexpr std::size_t kMaxFlags = 8;
constexpr std::size_t kNanosecondDigits = 9;

/// Marks that mail and notes put before a quoted line.
void skip_quote_marks(std::string_view& line) {
  while (line.size() > 1 && (line[0] == '|' || line[0] == '>') && line[1] == ' ')
    line.remove_prefix(2);
}

/// `comm-pid`, and perhaps `( 1234)` or `(-----)`. The pid stands behind the last dash.
bool split_task(std::string_view text, FtracePrefix& prefix) {
  scan::trim_right(text);
  if (text.ends_with(')')) {
    const std::size_t open = text.rfind('(');
    if (open == std::string_view::npos) return false;
    text = text.substr(0, open);
    scan::trim_right(text);
  }
  const std::size_t dash = text.rfind('-');
  if (dash == std::string_view::npos) return false;
  std::string_view pid_text = text.substr(dash + 1);
  const auto pid = scan::decimal(pid_text);
  if (!pid || !pid_text.empty() || *pid > u64{1} << 30) return false;
  prefix.pid = static_cast<Pid>(*pid);
  prefix.comm = text.substr(0, dash);
  scan::skip_spaces(prefix.comm);
  return true;
}

/// `12.345678:` or, from a clock that only counts, `12345:`.
bool take_time(std::string_view& text, FtracePrefix& prefix) {
  std::string_view rest = text;
  const auto seconds = scan::decimal(rest);
  if (!seconds) return false;
  prefix.has_time = scan::literal(rest, ".");
  if (prefix.has_time) {
    const std::size_t before = rest.size();
    const auto fraction = scan::decimal(rest);
    const std::size_t digits = before - rest.size();
    if (!fraction || digits > kNanosecondDigits || *seconds > u64{1} << 33) return false;
    u64 ns = *fraction;
    for (std::size_t at = digits; at < kNanosecondDigits; ++at) ns *= 10;
    prefix.time_ns = *seconds * 1'000'000'000 + ns;
  }
  if (!scan::literal(rest, ":")) return false;
  text = rest;
  return true;
}

/// `[003] d..2.     5.554574: `, without the opening bracket. The flags may touch the bracket.
bool split_columns(std::string_view text, FtracePrefix& prefix) {
  const auto cpu = scan::decimal(text);
  if (!cpu || *cpu >= kMaxCpus || !scan::literal(text, "]")) return false;
  prefix.cpu = static_cast<Cpu>(*cpu);
  scan::skip_spaces(text);
  prefix.flags = {};
  if (!take_time(text, prefix)) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (length < kMinFlags || length > kMaxFlags) return false;
    prefix.flags = text.substr(0, length);
    text.remove_prefix(length);
    scan::skip_spaces(text);
    if (!take_time(text, prefix)) return false;
  }
  scan::skip_spaces(text);
  prefix.payload = text;
  return true;
}

constexpr bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || c == '_' || scan::is_digit(c) || (c >= 'A' && c <= 'Z');
}

void split_event(FtracePrefix& prefix) {
  std::string_view& text = prefix.payload;
  std::size_t length = 0;
  while (length < text.size() && is_name(text[length])) ++length;
  prefix.event = {};
  if (length == 0 || length == text.size() || text[length] != ':') return;
  prefix.event = text.substr(0, length);
  text.remove_prefix(length + 1);
}

}  // namespace

bool split_ftrace_line(std::string_view line, FtracePrefix& prefix) {
  skip_quote_marks(line);
  // A name may hold brackets: the column is the first one that fits on both sides.
  std::size_t bracket = line.find('[');
  for (; bracket < kMaxCpuColumn; bracket = line.find('[', bracket + 1)) {
    if (!split_columns(line.substr(bracket + 1), prefix)) continue;
    if (!split_task(line.substr(0, bracket), prefix)) continue;
    split_event(prefix);
    return true;
  }
  return false;
}

std::optional<LostEvents> parse_lost_events(std::string_view line) {
  scan::skip_spaces(line);
  LostEvents lost;
  if (scan::literal(line, "CPU:")) {
    scan::skip_spaces(line);
    const auto cpu = scan::decimal(line);
    if (!cpu || *cpu >= kMaxCpus) return std::nullopt;
    lost.cpu = static_cast<Cpu>(*cpu);
    scan::skip_spaces(line);
  }
  if (!scan::literal(line, "[")) return std::nullopt;
  const bool says_lost = scan::literal(line, "LOST ");
  lost.count = scan::decimal(line);
  scan::skip_spaces(line);
  const bool says_events = scan::literal(line, says_lost ? "EVENTS]" : "EVENTS DROPPED]");
  if (!says_events) return std::nullopt;
  return lost;
}

std::optional<FtraceHeader> parse_ftrace_header(std::string_view line) {
  FtraceHeader header;
  const auto after = [&line](std::string_view what) -> std::string_view {
    const std::size_t at = line.find(what);
    return at == std::string_view::npos ? std::string_view{} : line.substr(at + what.size());
  };
  std::string_view text = after("entries-in-buffer/entries-written:");
  scan::skip_spaces(text);
  if (const auto in_buffer = scan::decimal(text); in_buffer && scan::literal(text, "/"))
    if (const auto written = scan::decimal(text)) {
      header.in_buffer = *in_buffer;
      header.written = *written;
    }
  text = after("#P:");
  if (const auto nr_cpus = scan::decimal(text); nr_cpus && *nr_cpus <= kMaxCpus)
    header.nr_cpus = static_cast<u32>(*nr_cpus);
  if (header.nr_cpus == 0 && header.written == 0) return std::nullopt;
  return header;
}

}  // namespace hvtlb
