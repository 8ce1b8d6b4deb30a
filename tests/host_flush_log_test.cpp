// The log of what hosts flushed, and what becomes of it when it grows too long.
#include "model/host_flush_log.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

constexpr AddressRange page(u64 number) {
  return {number * kPageSize, (number + 1) * kPageSize};
}

void note(HostFlushLog& log, Cpu cpu, u64 version, std::initializer_list<AddressRange> ranges) {
  log.note(cpu, version, std::vector(ranges));
}

TEST(HostFlushLog, FindsTheNewestRangeThatTouches) {
  HostFlushLog log(130);
  note(log, 129, 5, {page(1), page(3)});
  note(log, 129, 6, {{0x1800, 0x3000}});
  EXPECT_EQ(*log.touching(129, page(1), 5), (AddressRange{0x1800, 0x3000}));
  EXPECT_EQ(*log.touching(129, page(3), 5), page(3));
  EXPECT_EQ(log.touching(129, page(3), 6), nullptr) << "too old";
  EXPECT_EQ(log.touching(129, page(0), 0), nullptr);
  EXPECT_EQ(log.touching(65, page(3), 0), nullptr) << "another CPU's";
}

TEST(HostFlushLog, OneCallMayReachManyCpus) {
  HostFlushLog log(70);
  note(log, 1, 5, {page(1)});
  note(log, 69, 5, {page(1)});
  note(log, 2, 5, {page(2)});
  EXPECT_NE(log.touching(1, page(1), 5), nullptr);
  EXPECT_NE(log.touching(69, page(1), 5), nullptr);
  EXPECT_EQ(log.touching(69, page(2), 5), nullptr);
  EXPECT_NE(log.touching(2, page(2), 5), nullptr);
}

TEST(HostFlushLog, TooManyCallsForgetTheOlderHalf) {
  HostFlushLog log(70);
  for (u64 version = 1; version <= HostFlushLog::kMaxCalls + 1; ++version)
    note(log, version % 7 == 0 ? 69 : 1, version, {page(version)});
  const u64 half = HostFlushLog::kMaxCalls / 2;  // 4096: CPU 69's are 4095, 4102, ...
  EXPECT_EQ(log.touching(69, page(half - 1), 0), nullptr);
  EXPECT_EQ(log.touching(1, page(half), 0), nullptr);
  EXPECT_EQ(*log.touching(1, page(half + 1), 0), page(half + 1));
  EXPECT_EQ(*log.touching(69, page(half + 6), 0), page(half + 6));
  EXPECT_EQ(log.touching(1, page(half + 6), 0), nullptr) << "each keeps its CPUs";
  EXPECT_EQ(*log.touching(1, page(2 * half + 1), 0), page(2 * half + 1));
}

TEST(HostFlushLog, TheLimitsThatTheDocumentationNames) {
  EXPECT_EQ(HostFlushLog::kMaxCalls, 8192u);
  EXPECT_EQ(HostFlushLog::kMaxRanges, 65536u);
}

TEST(HostFlushLog, TooManyRangesDoToo) {
  HostFlushLog log(1);
  const u64 ranges_a_call = 1024;
  const u64 calls = HostFlushLog::kMaxRanges / ranges_a_call;
  for (u64 call = 0; call <= calls; ++call) {
    std::vector<AddressRange> ranges;
    for (u64 at = 0; at < ranges_a_call; ++at) ranges.push_back(page(call * ranges_a_call + at));
    log.note(0, call + 1, ranges);
  }
  EXPECT_EQ(log.touching(0, page(calls / 2 * ranges_a_call - 1), 0), nullptr);
  EXPECT_NE(log.touching(0, page(calls / 2 * ranges_a_call), 0), nullptr);
  EXPECT_NE(log.touching(0, page((calls + 1) * ranges_a_call - 1), 0), nullptr);
}

TEST(HostFlushLog, LogsThatDifferAreWrittenDifferently) {
  std::vector<std::vector<u64>> states;
  const auto add = [&](const HostFlushLog& log) { log.append_state(states.emplace_back()); };
  HostFlushLog log(70);
  add(log);
  note(log, 1, 5, {page(1)});
  add(log);
  note(log, 65, 5, {page(1)});  // the same call reaches one CPU more
  add(log);
  HostFlushLog later(70);
  note(later, 1, 6, {page(1)});
  add(later);
  HostFlushLog elsewhere(70);
  note(elsewhere, 1, 5, {page(2)});
  add(elsewhere);
  for (std::size_t a = 0; a < states.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(states[a], states[b]) << a << " " << b;
}

}  // namespace
}  // namespace hvtlb
