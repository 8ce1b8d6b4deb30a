// Which format a file has, by its content.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "trace/ftrace_reader.h"

namespace hvtlb {
namespace {

struct KnownFormat {
  std::string_view magic;  ///< the file's first bytes
  std::string_view name;
};

using namespace std::string_view_literals;

/// What people will try, so that the refusal can name it.
constexpr std::array kNotReadYet{
    KnownFormat{"\x17\x08\x44tracing"sv, "a trace.dat of trace-cmd"},
    KnownFormat{"\x1f\x8b"sv, "gzip-compressed data"},
    KnownFormat{"\x28\xb5\x2f\xfd"sv, "zstd-compressed data"},
    KnownFormat{"PERFILE2"sv, "a perf.data"},
    KnownFormat{"version = "sv, "trace-cmd report text"},
    KnownFormat{"cpus="sv, "trace-cmd report text"},
    KnownFormat{"trace-cmd "sv, "trace-cmd output"},
    KnownFormat{"Attaching "sv, "bpftrace output"},
};

std::string expected(std::string_view found) {
  return fmt::format("found {}, expected ftrace text (a copy of /sys/kernel/tracing/trace)", found);
}

}  // namespace

OpenedTrace open_trace(const std::string& path) {
  auto source = std::make_unique<LineSource>(path);
  if (!source->error().empty()) return {nullptr, source->error()};
  const std::string_view head = source->peek();
  if (head.empty()) return {nullptr, expected("an empty file")};
  for (const KnownFormat& format : kNotReadYet)
    if (head.starts_with(format.magic))
      return {nullptr, expected(fmt::format("{}, which is not read yet", format.name))};
  if (!looks_like_ftrace(head)) return {nullptr, expected("an unknown format")};
  return {std::make_unique<FtraceReader>(std::move(source)), {}};
}

u32 count_trace_cpus(const std::string& path) {
  const OpenedTrace trace = open_trace(path);
  u32 nr_cpus = 0;
  TraceEvent event;
  while (trace.reader && trace.reader->next(event))
    if (!std::holds_alternative<LostEvents>(event.action))
      nr_cpus = std::max(nr_cpus, event.cpu + 1);
  return nr_cpus;
}

}  // namespace hvtlb
