// One line of ftrace text in all the shapes that it has in the wild.
#include "trace/ftrace_line.h"

#include <gtest/gtest.h>

#include "trace/ftrace_payload.h"

namespace hvtlb {
namespace {

FtracePrefix split(std::string_view line) {
  FtracePrefix prefix;
  EXPECT_TRUE(split_ftrace_line(line, prefix)) << line;
  return prefix;
}

bool unreadable(std::string_view line) {
  FtracePrefix prefix;
  return !split_ftrace_line(line, prefix);
}

template <class Event>
Event payload(std::string_view name, std::string_view text) {
  TraceAction action;
  EXPECT_TRUE(parse_ftrace_payload(name, text, action)) << text;
  return std::get<Event>(action);
}

bool bad_payload(std::string_view name, std::string_view text) {
  TraceAction action;
  return !parse_ftrace_payload(name, text, action);
}

TEST(FtraceLine, Columns) {
  const auto p = split("            work-190     [003] d..2.     5.556562: tlb_flush: pages:1");
  EXPECT_EQ(p.comm, "work");
  EXPECT_EQ(p.pid, 190);
  EXPECT_EQ(p.cpu, 3U);
  EXPECT_EQ(p.flags, "d..2.");
  EXPECT_EQ(p.time_ns, 5'556'562'000U);
  EXPECT_EQ(p.event, "tlb_flush");
  EXPECT_EQ(p.payload, " pages:1");
}

TEST(FtraceLine, FlagsOfFourToEightCharactersOrNone) {
  EXPECT_EQ(split("  a-1  [000] d..2 1.0: e: x").flags, "d..2");
  EXPECT_EQ(split("  a-1  [000] dNh.4.. 1.0: e: x").flags, "dNh.4..");
  EXPECT_EQ(split("  a-1  [000] d...2.13 1.0: e: x").flags, "d...2.13");
  EXPECT_EQ(split("  a-1  [000] 1.0: e: x").flags, "");
  EXPECT_EQ(split("  a-1  [000]d..2. 1.0: e: x").flags, "d..2.");  // glued to the CPU
  EXPECT_TRUE(unreadable("  a-1  [000] d.2 1.0: e: x"));
  EXPECT_TRUE(unreadable("  a-1  [000] d...2.133 1.0: e: x"));
}

TEST(FtraceLine, NamesThatLookLikeColumns) {
  EXPECT_EQ(split(" my-app:wk-2-77 [001] .... 1.0: e: x").comm, "my-app:wk-2");
  EXPECT_EQ(split(" my-app:wk-2-77 [001] .... 1.0: e: x").pid, 77);
  EXPECT_EQ(split("  Web Content-9 [001] .... 1.0: e: x").comm, "Web Content");
  EXPECT_EQ(split("  a [b] c-9     [001] .... 1.0: e: x").comm, "a [b] c");
  const auto p = split("  x-1 [000] y-55 [001] d..2. 5.0: e: x");
  EXPECT_EQ(p.comm, "x-1 [000] y");
  EXPECT_EQ(p.pid, 55);
  EXPECT_EQ(p.cpu, 1U);
  EXPECT_EQ(split("  <...>-408 [004] .... 1.0: e: x").comm, "<...>");
  EXPECT_EQ(split("  <idle>-0  [004] .... 1.0: e: x").pid, 0);
}

TEST(FtraceLine, TgidColumn) {
  EXPECT_EQ(split("  core:s-430  (  430) [001] d..3 21.5: e: x").pid, 430);
  EXPECT_EQ(split("  <idle>-0    (-----) [006] .... 10.2: e: x").comm, "<idle>");
}

TEST(FtraceLine, Timestamps) {
  EXPECT_EQ(split(" a-1 [0] .... 7.123456789: e: x").time_ns, 7'123'456'789U);  // ns
  EXPECT_EQ(split(" a-1 [0] .... 7.123: e: x").time_ns, 7'123'000'000U);
  EXPECT_FALSE(split(" a-1 [0] .... 81726354: e: x").has_time);  // a counter
  EXPECT_TRUE(unreadable(" a-1 [0] .... 7.1234567890: e: x"));
  EXPECT_TRUE(unreadable(" a-1 [0] .... 99999999999999999999.5: e: x"));
}

TEST(FtraceLine, CpuNumbers) {
  EXPECT_EQ(split(" a-1 [152] .... 7.1: e: x").cpu, 152U);
  EXPECT_EQ(split(" a-1 [4095] .... 7.1: e: x").cpu, 4095U);
  EXPECT_TRUE(unreadable(" a-1 [4096] .... 7.1: e: x"));
}

TEST(FtraceLine, QuotedInMail) {
  EXPECT_EQ(split("|  <idle>-0  [007] dN.h4.. 46.29: e: x").comm, "<idle>");
  EXPECT_EQ(split("> > a-1 [0] .... 7.1: e: x").comm, "a");
}

TEST(FtraceLine, PayloadWithoutAName) {
  EXPECT_EQ(split(" a-1 [0] .... 7.1: sys_read(fd: 3)").event, "");
  EXPECT_EQ(split(" a-1 [0] .... 7.1: schedule <-foo").event, "");
}

TEST(FtraceLine, OtherLines) {
  for (const std::string_view line :
       {"", " ", "=> smp_call_function (ffffffff8)", "del_timer_sync()", " gid=4",
        "a-1    0d....   140.4: sched_switch: x", "perf 14570 [001] 97.7: sched:sched_switch: x",
        "a-x [000] .... 1.0: e: x", "[000] .... 1.0: e: x", "a-1 [000 .... 1.0: e: x", "a-1 []"})
    EXPECT_TRUE(unreadable(line)) << line;
}

TEST(FtraceLine, LostEvents) {
  auto lost = parse_lost_events("CPU:3 [LOST 12 EVENTS]");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cpu, 3U);
  EXPECT_EQ(lost->count, 12U);
  lost = parse_lost_events("CPU:0 [LOST EVENTS]");
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->count);
  lost = parse_lost_events("[LOST EVENTS]");
  ASSERT_TRUE(lost);
  EXPECT_FALSE(lost->cpu);
  lost = parse_lost_events("CPU:7 [204600 EVENTS DROPPED]");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->count, 204'600U);
  EXPECT_FALSE(parse_lost_events("CPU 0 is empty"));
  EXPECT_FALSE(parse_lost_events("CPU:1 [FOUND EVENTS]"));
}

TEST(FtraceLine, Header) {
  const auto header = parse_ftrace_header("# entries-in-buffer/entries-written: 116/320   #P:12");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->in_buffer, 116U);
  EXPECT_EQ(header->written, 320U);
  EXPECT_EQ(header->nr_cpus, 12U);
  EXPECT_FALSE(parse_ftrace_header("# tracer: nop"));
}

TEST(FtracePayload, SchedSwitch) {
  const auto e = payload<SchedSwitch>(
      "sched_switch",
      " prev_comm=a prev_pid=7 prev_pid=12 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=3 "
      "next_pid=9 next_prio=120");
  EXPECT_EQ(e.prev_pid, 12);  // the name is `a prev_pid=7`
  EXPECT_EQ(e.next_pid, 9);
  EXPECT_EQ(e.next_comm, "b next_pid=3");
  EXPECT_TRUE(bad_payload("sched_switch", " a:1 [120] S ==> b:2 [120]"));
  EXPECT_TRUE(bad_payload("sched_switch", " prev_comm=a prev_pid=7 prev_prio=120 prev_sta"));
}

TEST(FtracePayload, ForkAndExit) {
  const auto fork = payload<ProcessFork>("sched_process_fork",
                                         " comm=in pid=1 pid=4 child_comm=a b child_pid=190");
  EXPECT_EQ(fork.parent, 4);
  EXPECT_EQ(fork.child, 190);
  EXPECT_EQ(payload<ProcessExit>("sched_process_exit", " comm=w pid=190 prio=120").pid, 190);
  EXPECT_EQ(
      payload<ProcessExit>("sched_process_exit", " comm=w pid=190 prio=120 group_dead=true").pid,
      190);
}

TEST(FtracePayload, Kprobes) {
  EXPECT_EQ(
      payload<SwitchMmEvent>("swmm", " (switch_mm_irqs_off+0x4/0x500) prev=0x0 next=0xff25").next,
      0xff25U);
  EXPECT_EQ(payload<EnterLazyEvent>("lazy", " (enter_lazy_tlb+0x4/0x30) mm=0xff").mm, 0xffU);
  const auto range = payload<FlushRangeEvent>(
      "fmr", " (f+0x4/0x1c0) mm=0xab start=0x1000 end=0xffffffffffffffff stride=21 freed=1");
  EXPECT_EQ(range.mm, 0xabU);
  EXPECT_EQ(range.end, kTlbFlushAll);
  EXPECT_EQ(range.stride_shift, 21);
  EXPECT_TRUE(range.freed_tables);
  const auto multi = payload<FlushMultiEvent>(
      "ntm",
      " (n+0x4/0x100) mask=0x3f mm=0xab start=0x0 end=0x1000 gen=7 icpu=0 stride=12 freed=0 "
      "trim=1");
  EXPECT_EQ(multi.mask, 0x3fU);
  EXPECT_EQ(multi.new_tlb_gen, 7U);
  EXPECT_TRUE(multi.trim_cpumask);
  EXPECT_FALSE(multi.freed_tables);
}

TEST(FtracePayload, CutFaultedOrOutOfRange) {
  EXPECT_TRUE(bad_payload("swmm", " (f+0x4/0x5) prev=0x0 next=(fault)"));
  EXPECT_TRUE(bad_payload("swmm", " (f+0x4/0x5) prev=0x0 ne"));
  EXPECT_TRUE(bad_payload("lazy", " (f+0x4/0x5) mm=0x11112222333344445"));  // 17 digits
  EXPECT_TRUE(bad_payload("fmr", " (f) mm=0xab start=0x0 end=0x1000 stride=64 freed=0"));
  EXPECT_TRUE(bad_payload("fmr", " (f) mm=0xab start=0x0 end=0x1000 stride=12 freed=x"));
  EXPECT_TRUE(bad_payload("ntm", " (n) mask=0x3f mm=0xab start=0x0 end=0x1000 gen=7"));
}

}  // namespace
}  // namespace hvtlb
