// Drives one machine per era, in lockstep, with the events of a recording. The recorded era follows
// every switch that the kernel made; the others follow the flush calls and the switches that tasks
// made, and do for themselves what a handler does.
#pragma once

#include <functional>
#include <memory>

#include "trace/replay_result.h"

namespace hvtlb {

struct ReplayEra {
  std::string name;
  Rules rules;
};

struct ReplayOptions {
  ReplayEra recorded;               ///< the kernel that made the recording; native path
  std::vector<ReplayEra> compared;  ///< by Hyper-V's path, all CPUs present, VP n = CPU n
  u32 nr_cpus = 1;
  u64 hz = 250;
};

class Replay {
 public:
  using OnFlush = std::function<void(const ReplayedFlush&)>;

  /// `on_flush` may be empty.
  explicit Replay(const ReplayOptions& options, OnFlush on_flush = {});

  void feed(const TraceEvent& event);

  /// Settles what is open. `read` becomes part of the result.
  ReplayResult finish(const ReadStats& read);

 private:
  /// What is known of a CPU beside its state in the worlds.
  struct CpuView {
    enum class State : u8 { kUnknown, kGuessed, kKnown };
    /// A call that will reach other CPUs, or may: it waits for the kernel's own words.
    struct Pending {
      FlushRangeEvent request;
      u64 line;
      u64 time_ns;
      Pid pid;
      std::string comm;
      u64 generation;  ///< the one that the request should get, counted when it was called
    };
    struct LocalFlush {
      u64 mm;
      u64 generation;
    };
    /// The kernel's handlers run a little later than the model's. An mm that the model's handler
    /// has made this CPU leave keeps the CPU in its mask until the kernel's switch is seen.
    struct Leaving {
      u64 mm;
      u64 serial;
    };
    State state = State::kUnknown;
    bool sees_switches = false;             ///< the recording has this CPU's sched_switch
    bool just_switched = false;             ///< the scheduler has chosen `next_pid` and not gone on
    bool runs_without_mm = false;           ///< the last thing seen was enter_lazy_tlb()
    bool flushed_last = false;              ///< nothing of the task was seen since its flush
    std::optional<LocalFlush> local_flush;  ///< just replayed as one
    std::optional<Leaving> leaving;
    Pid next_pid = 0;
    std::string next_comm;
    std::optional<Pending> pending;
  };

  void on(const TraceEvent& event, const SchedSwitch& what);
  void on(const TraceEvent& event, const ProcessFork& what);
  void on(const TraceEvent& event, const ProcessExit& what);
  void on(const TraceEvent& event, const SwitchMmEvent& what);
  void on(const TraceEvent& event, const EnterLazyEvent& what);
  void on(const TraceEvent& event, const FlushRangeEvent& what);
  void on(const TraceEvent& event, const FlushMultiEvent& what);
  void on(const TraceEvent& event, const TlbFlushEvent&);
  void on(const TraceEvent& event, const LostEvents& what);
  void on(const TraceEvent&, const OtherEvent&) {}

  void advance_clock(const TraceEvent& event);
  bool is_init_mm(u64 pointer);
  bool is_handlers_switch(const TraceEvent& event, const CpuView& view) const;
  void settle_pending(Cpu cpu);
  void arrived(MmLife& life);
  void end_lives();
  void keep_top_mms(bool sort = false);
  void know(Cpu cpu, const MmLife* loaded);
  void left(Cpu cpu);
  u64 next_generation(const MmLife& life) const;
  CpuMask lazily_loaded_by(const MmLife& life) const;
  CpuMask leaving_now(const MmLife& life) const;
  void keep_leaving_in_mask(const CpuMask& lazy_before, MmLife& life);
  MmLife& life_flushed(const TraceEvent& event, u64 pointer);
  MmLife& life_at(u64 pointer);
  bool is_last_flush(Cpu cpu, const CpuView::Pending& call, const MmLife& life);
  void compare(const TraceEvent& event, const FlushMultiEvent& recorded, u64 generation);
  void adopt_mask(u64 mask, MmLife& life);
  void flush(Cpu cpu, const CpuView::Pending& call, std::optional<u64> recorded_mask);
  void flush_batch(const TraceEvent& event, const FlushMultiEvent& recorded);
  void tally(const ReplayedFlush& flushed, MmLife* life);
  Knowledge knowledge_of(Cpu cpu, const MmLife& life, bool recorded_era);
  FlushTally& tally_of_comm(std::string_view comm);

  ReplayWorld& recorded() { return *worlds_.front(); }
  const ReplayWorld& recorded() const { return *worlds_.front(); }

  OnFlush on_flush_;
  std::vector<std::unique_ptr<ReplayWorld>> worlds_;  // the recorded era first
  std::vector<CpuView> cpus_;
  MmLives lives_;
  std::optional<u64> init_mm_;
  std::optional<u64> first_ns_;
  u64 last_ns_ = 0;
  u64 jiffies_ = 0;
  ReplayResult result_;
};

}  // namespace hvtlb
