// Recordings for tests, written event by event.
#pragma once

#include <fmt/format.h>
#include <string>

#include "model/eras.h"
#include "temp_file.h"
#include "trace/replay.h"

namespace hvtlb {

inline constexpr u64 kInitMmPointer = 0xffffffff90000000;
inline constexpr u64 kMmA = 0xff11000001000000;
inline constexpr u64 kMmB = 0xff11000002000000;

/// Text with one event a microsecond. Pids name tasks; the task that runs on a CPU is followed.
class ReplayTrace {
 public:
  explicit ReplayTrace(u32 nr_cpus = 4) : nr_cpus_(nr_cpus), running_(nr_cpus) {}

  ReplayTrace& sched(Cpu cpu, Pid next) {
    event(cpu, "d..2.",
          fmt::format("sched_switch: prev_comm=t prev_pid={} prev_prio=120 prev_state=S ==> "
                      "next_comm=t{} next_pid={} next_prio=120",
                      running_[cpu], next, next));
    next_[cpu % 64] = next;
    return *this;
  }
  /// What follows a sched() to a task with an mm.
  ReplayTrace& runs(Cpu cpu, u64 mm) {
    event(cpu, "d..2.", fmt::format("swmm: (f) prev=0x0 next={:#x}", mm));
    running_[cpu] = next_[cpu % 64];
    return *this;
  }
  /// The task goes on and its CPU idles on the borrowed mm.
  ReplayTrace& idles(Cpu cpu, u64 mm) {
    sched(cpu, 0);
    lazy(cpu, mm);
    running_[cpu] = 0;
    return *this;
  }
  ReplayTrace& lazy(Cpu cpu, u64 mm) {
    return event(cpu, "d..2.", fmt::format("lazy: (f) mm={:#x}", mm));
  }
  /// A task of `mm` comes onto the CPU.
  ReplayTrace& comes(Cpu cpu, Pid pid, u64 mm) { return sched(cpu, pid).runs(cpu, mm); }
  ReplayTrace& execs(Cpu cpu, u64 mm) {
    return event(cpu, "d..1.", fmt::format("swmm: (f) prev=0x0 next={:#x}", mm));
  }
  ReplayTrace& handler_leaves(Cpu cpu) {
    return event(cpu, "d.h1.", fmt::format("swmm: (f) prev=0x0 next={:#x}", kInitMmPointer));
  }
  ReplayTrace& forks(Cpu cpu, Pid child) {
    return event(cpu, ".....",
                 fmt::format("sched_process_fork: comm=t pid={} child_comm=t child_pid={}",
                             running_[cpu], child));
  }
  ReplayTrace& exits(Cpu cpu) {
    return event(cpu, ".....",
                 fmt::format("sched_process_exit: comm=t pid={} prio=120", running_[cpu]));
  }
  ReplayTrace& calls(Cpu cpu, u64 mm, bool freed = false) {
    return event(cpu, ".....",
                 fmt::format("fmr: (f) mm={:#x} start=0x1000 end=0x2000 stride=12 freed={}", mm,
                             freed ? 1 : 0));
  }
  /// exit_mmap()'s flush.
  ReplayTrace& calls_last(Cpu cpu, u64 mm) {
    return event(
        cpu, ".....",
        fmt::format("fmr: (f) mm={:#x} start=0x0 end={:#x} stride=12 freed=1", mm, kTlbFlushAll));
  }
  ReplayTrace& sends(Cpu cpu, u64 mm, u64 mask, u64 generation, bool freed = false) {
    return event(cpu, "...1.",
                 fmt::format("ntm: (f) mask={:#x} mm={:#x} start=0x1000 end=0x2000 gen={} icpu={} "
                             "stride=12 freed={} trim=0",
                             mask, mm, generation, cpu, freed ? 1 : 0));
  }
  /// A flush call and its mask.
  ReplayTrace& flushes(Cpu cpu, u64 mm, u64 mask, u64 generation, bool freed = false) {
    return calls(cpu, mm, freed).sends(cpu, mm, mask, generation, freed);
  }
  ReplayTrace& line(const std::string& text) {
    text_ += text + '\n';
    return *this;
  }
  ReplayTrace& event(Cpu cpu, std::string_view flags, const std::string& what) {
    const Pid pid = cpu < running_.size() ? running_[cpu] : 0;
    ++microseconds_;
    return line(fmt::format("  t{}-{} [{:03}] {} {}.{:06}: {}", pid, pid, cpu, flags,
                            microseconds_ / 1'000'000, microseconds_ % 1'000'000, what));
  }
  ReplayTrace& waits(u64 microseconds) {
    microseconds_ += microseconds;
    return *this;
  }

  std::string text() const {
    return fmt::format("# tracer: nop\n# entries-in-buffer/entries-written: 1/1   #P:{}\n",
                       nr_cpus_) +
           text_;
  }

  ReplayResult replay(Replay::OnFlush on_flush = {},
                      std::string_view recorded = "v6.12.117") const {
    const TempFile file(text());
    const OpenedTrace trace = open_trace(file.path());
    const auto era = [](std::string_view name) {
      return ReplayEra{std::string(name), find_era(name)->rules};
    };
    Replay run({era(recorded), {era("v6.17.5"), era("filtered")}, nr_cpus_, 250},
               std::move(on_flush));
    TraceEvent event;
    while (trace.reader->next(event)) run.feed(event);
    return run.finish(trace.reader->stats());
  }

 private:
  u32 nr_cpus_;
  std::vector<Pid> running_;
  Pid next_[64] = {};
  u64 microseconds_ = 1'000'000;
  std::string text_;
};

}  // namespace hvtlb
