// Streams of lines: counting, skipping, recognising the format.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "temp_file.h"
#include "trace/reader.h"

namespace hvtlb {
namespace {

struct Read {
  ReadStats stats;
  std::vector<std::string> comms;
  std::vector<u64> lines;
  std::string error;
};

Read read(const std::string& text) {
  const TempFile file(text);
  const OpenedTrace trace = open_trace(file.path());
  if (!trace.reader) return {{}, {}, {}, trace.error};
  Read result;
  TraceEvent event;
  while (trace.reader->next(event)) {
    result.comms.emplace_back(event.comm);
    result.lines.push_back(event.line);
  }
  result.stats = trace.reader->stats();
  return result;
}

const std::string kLine = "  a-1 [000] d..2. 5.0: lazy: (f) mm=0xff\n";

TEST(FtraceReader, CountsAndNumbersLines) {
  const Read r =
      read("# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/5   #P:4\n" + kLine +
           "rubbish\n\n" + kLine + "CPU:1 [LOST 3 EVENTS]\n  a-1 [000] d..2. 5.0: lazy: (f) mm=\n");
  EXPECT_EQ(r.lines, (std::vector<u64>{4, 7, 8}));
  EXPECT_EQ(r.stats.lines, 9U);
  EXPECT_EQ(r.stats.skipped, 2U);
  EXPECT_EQ(r.stats.first_skipped, 5U);
  EXPECT_EQ(r.stats.lost_reports, 1U);
  EXPECT_EQ(r.stats.lost_events, 3U);
  EXPECT_EQ(r.stats.overwritten, 3U);
  EXPECT_EQ(r.stats.header_cpus, 4U);
}

TEST(FtraceReader, LineEnds) {
  const std::string body = kLine.substr(0, kLine.size() - 1);
  // CRLF, an escaped line end, and no end at all.
  const Read r = read(fmt::format("{0}\r\n{0}\\n\\\n{0}", body));
  EXPECT_EQ(r.lines.size(), 3U);
  EXPECT_EQ(r.stats.skipped, 0U);
}

TEST(FtraceReader, HeadersMayRepeat) {
  const std::string part = "# tracer: nop\n# entries-in-buffer/entries-written: 1/3   #P:2\n";
  const Read r = read(part + kLine + part + kLine);
  EXPECT_EQ(r.lines.size(), 2U);
  EXPECT_EQ(r.stats.overwritten, 4U);
}

TEST(FtraceReader, AnOverlongLineIsSkippedAndTheNextOneRead) {
  const std::string longest = "  a-1 [000] d..2. 5.0: x: " + std::string(3'000'000, 'y') + "\n";
  const Read r = read(kLine + longest + kLine);
  EXPECT_EQ(r.lines, (std::vector<u64>{1, 3}));
  EXPECT_EQ(r.stats.skipped, 1U);
  EXPECT_EQ(r.stats.bytes, longest.size() + 2 * kLine.size());
}

TEST(FtraceReader, ManyLinesAcrossTheBuffer) {
  std::string text;
  for (int at = 0; at < 60'000; ++at) text += kLine;
  const Read r = read(text);
  EXPECT_EQ(r.stats.lines, 60'000U);
  EXPECT_EQ(r.stats.skipped, 0U);
  for (const std::string& comm : r.comms) ASSERT_EQ(comm, "a");
}

TEST(FtraceReader, ContextFromFlags) {
  const TempFile file(
      "  a-1 [000] d.h1. 1.0: e: x\n  a-1 [000] dNH1. 1.0: e: x\n  a-1 [000] d.s2. 1.0: e: x\n"
      "  a-1 [000] d..2. 1.0: e: x\n  a-1 [000] 1.0: e: x\n  a-1 [000] d.Z2. 1.0: e: x\n");
  const OpenedTrace trace = open_trace(file.path());
  std::vector<TraceContext> contexts;
  TraceEvent event;
  while (trace.reader->next(event)) contexts.push_back(event.context);
  using enum TraceContext;
  EXPECT_EQ(contexts, (std::vector<TraceContext>{kInterrupt, kInterrupt, kTask, kTask, kUnknown,
                                                 kInterrupt}));
}

TEST(OpenTrace, NamesWhatItCannotRead) {
  EXPECT_NE(read("").error.find("an empty file"), std::string::npos);
  EXPECT_NE(read("hello\nworld\n").error.find("an unknown format"), std::string::npos);
  EXPECT_NE(read("version = 6\n" + kLine).error.find("trace-cmd report"), std::string::npos);
  EXPECT_NE(read(std::string("\x17\x08\x44tracing6\0", 12)).error.find("trace.dat"),
            std::string::npos);
  EXPECT_NE(read("\x1f\x8b\x08").error.find("gzip"), std::string::npos);
  EXPECT_NE(read("PERFILE2").error.find("perf.data"), std::string::npos);
}

TEST(OpenTrace, MissingFileAndDirectory) {
  EXPECT_FALSE(open_trace("/no/such/file").error.empty());
  EXPECT_FALSE(open_trace("/").error.empty());
}

TEST(OpenTrace, HighestCpu) {
  const TempFile file(kLine + "  a-1 [011] d..2. 5.0: e: x\nCPU:40 [LOST EVENTS]\n");
  EXPECT_EQ(count_trace_cpus(file.path()), 12U);
}

}  // namespace
}  // namespace hvtlb
