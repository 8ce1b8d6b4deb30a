// The events of a recording, one by one. What a flush comes to is in replay_flush.cpp.
#include "trace/replay.h"

#include <algorithm>
#include <utility>

namespace hvtlb {
namespace {

/// Static mms lie in the kernel's image; all others come from the slab.
constexpr u64 kKernelImage = 0xffffffff80000000;

constexpr u64 kFirstJiffies = 1000;
constexpr u64 kNsPerSecond = 1'000'000'000;

MachineShape shape_of(const ReplayOptions& options, bool hyperv) {
  MachineShape shape;
  shape.nr_cpus = options.nr_cpus;
  shape.hz = options.hz;
  shape.jiffies = kFirstJiffies;
  shape.hyperv = hyperv;
  return shape;
}

}  // namespace

Replay::Replay(const ReplayOptions& options, OnFlush on_flush)
    : on_flush_(std::move(on_flush)), cpus_(options.nr_cpus), jiffies_(kFirstJiffies) {
  const auto add = [&](const ReplayEra& era, bool hyperv) {
    worlds_.push_back(
        std::make_unique<ReplayWorld>(era.name, era.rules, shape_of(options, hyperv)));
    EraTotals& totals = result_.eras.emplace_back();
    totals.name = era.name;
    totals.hyperv = hyperv;
  };
  add(options.recorded, false);
  for (const ReplayEra& era : options.compared) add(era, true);
  result_.nr_cpus = options.nr_cpus;
  result_.hz = options.hz;
  for (Cpu cpu = 0; cpu < options.nr_cpus; ++cpu)
    result_.victims.push_back(
        {cpu, std::vector<u64>(worlds_.size()), std::vector<u64>(worlds_.size())});
}

void Replay::feed(const TraceEvent& event) {
  if (!std::holds_alternative<LostEvents>(event.action)) {
    if (event.cpu >= cpus_.size()) {
      ++result_.beyond_cpus;
      return;
    }
    if (event.context == TraceContext::kUnknown) ++result_.unknown_context;
    advance_clock(event);
  }
  std::visit([&](const auto& what) { on(event, what); }, event.action);
}

void Replay::advance_clock(const TraceEvent& event) {
  if (!event.has_time) {
    result_.has_time = false;
    return;
  }
  if (!first_ns_) first_ns_ = event.time_ns;
  // Events of different CPUs may stand a little out of order; the clock does not step back.
  if (event.time_ns <= last_ns_) return;
  last_ns_ = event.time_ns;
  const u64 elapsed = last_ns_ - *first_ns_;
  const u64 jiffies = kFirstJiffies + elapsed / kNsPerSecond * result_.hz +
                      elapsed % kNsPerSecond * result_.hz / kNsPerSecond;
  if (jiffies == jiffies_) return;
  jiffies_ = jiffies;
  for (const auto& world : worlds_) world->set_jiffies(jiffies);
}

/// The recording does not say which pointer is `init_mm`: the first one that lies in the image.
bool Replay::is_init_mm(u64 pointer) {
  if (!init_mm_ && pointer >= kKernelImage) init_mm_ = pointer;
  return pointer == init_mm_;
}

MmLife& Replay::life_at(u64 pointer) {
  MmLife& life = lives_.at(pointer);
  arrived(life);
  return life;
}

/// Gives a new life its slots, and ends the lives that made room for it.
void Replay::arrived(MmLife& life) {
  end_lives();
  if (!life.slots.empty()) return;
  ++result_.mms;
  for (const auto& world : worlds_) life.slots.push_back(world->new_mm());
  life.tally.reached.resize(worlds_.size());
  life.tally.needless.resize(worlds_.size());
}

void Replay::on(const TraceEvent& event, const SchedSwitch& what) {
  settle_pending(event.cpu);
  CpuView& view = cpus_[event.cpu];
  view.sees_switches = view.just_switched = true;
  view.runs_without_mm = view.flushed_last = false;
  view.local_flush.reset();
  view.next_pid = what.next_pid;
  view.next_comm = what.next_comm;
}

void Replay::on(const TraceEvent& event, const ProcessFork& what) {
  settle_pending(event.cpu);
  lives_.forked(what.parent, what.child);
}

void Replay::on(const TraceEvent& event, const ProcessExit& what) {
  settle_pending(event.cpu);
  lives_.exited(what.pid);
}

void Replay::on(const TraceEvent& event, const EnterLazyEvent&) {
  settle_pending(event.cpu);
  CpuView& view = cpus_[event.cpu];
  if (view.just_switched) lives_.has_no_mm(view.next_pid);
  view.just_switched = view.flushed_last = false;
  view.runs_without_mm = true;
  view.local_flush.reset();
  // The event's mm is what the task borrows; the CPU may have left it for init_mm long ago. So an
  // unknown CPU stays unknown.
  if (view.state == CpuView::State::kUnknown) return;
  for (const auto& world : worlds_) world->enter_lazy(event.cpu);
}

/// A flush handler moved a lazy CPU to `init_mm`: by IPI, or on the flushing CPU itself.
bool Replay::is_handlers_switch(const TraceEvent& event, const CpuView& view) const {
  return event.context == TraceContext::kUnknown || (event.pid != 0 && view.flushed_last);
}

void Replay::on(const TraceEvent& event, const SwitchMmEvent& what) {
  const Cpu cpu = event.cpu;
  CpuView& view = cpus_[cpu];
  left(cpu);
  const bool to_init_mm = is_init_mm(what.next);
  if (event.context == TraceContext::kInterrupt ||
      (to_init_mm && is_handlers_switch(event, view))) {
    // An effect of the recorded kernel's handler: the other eras run handlers of their own.
    if (to_init_mm) {
      know(cpu, nullptr);
      recorded().leave_mm(cpu);
    }
    return;
  }
  settle_pending(cpu);
  const bool scheduled = view.just_switched;
  view.just_switched = view.flushed_last = view.runs_without_mm = false;
  view.local_flush.reset();
  if (to_init_mm) {
    know(cpu, nullptr);
    for (const auto& world : worlds_) world->leave_mm(cpu);
    return;
  }
  using Arrival = MmLives::Arrival;
  const Arrival arrival = scheduled            ? Arrival::kScheduled
                          : view.sees_switches ? Arrival::kRunning
                                               : Arrival::kUnknown;
  const Pid pid = scheduled ? view.next_pid : event.pid;
  MmLife& life = lives_.arrive(what.next, pid, arrival);
  arrived(life);
  life.comm = scheduled ? std::string_view(view.next_comm) : event.comm;
  know(cpu, &life);
  for (std::size_t at = 0; at < worlds_.size(); ++at) worlds_[at]->switch_mm(cpu, life.slots[at]);
}

void Replay::on(const TraceEvent& event, const FlushRangeEvent& what) {
  settle_pending(event.cpu);
  if (is_init_mm(what.mm)) return;
  CpuView& view = cpus_[event.cpu];
  const MmLife& life = life_flushed(event, what.mm);
  view.flushed_last = true;
  view.local_flush.reset();
  CpuView::Pending call{
      what, event.line, event.time_ns, event.pid, std::string(event.comm), next_generation(life)};
  const bool mask_known = life.began_here || life.mask_confirmed;
  if (!mask_known || recorded().others_in_mask(event.cpu, life.slots.front())) {
    view.pending = std::move(call);
    return;
  }
  flush(event.cpu, call, std::nullopt);
  view.local_flush = {what.mm, call.generation};
}

void Replay::on(const TraceEvent& event, const FlushMultiEvent& what) {
  CpuView& view = cpus_[event.cpu];
  if (what.mm == 0) {
    settle_pending(event.cpu);
    flush_batch(event, what);
    return;
  }
  if (is_init_mm(what.mm)) return;
  if (view.local_flush && view.local_flush->mm == what.mm) {
    // The model took it for local when it was called, and another CPU has joined since.
    ++result_.conformance.joined_late;
    compare(event, what, view.local_flush->generation);
    view.local_flush.reset();
    return;
  }
  if (!view.pending || view.pending->request.mm != what.mm) {
    // Its call was not recorded.
    settle_pending(event.cpu);
    const MmLife& life = life_flushed(event, what.mm);
    view.flushed_last = true;
    view.pending = {{what.mm, what.start, what.end, what.stride_shift, what.freed_tables},
                    event.line,
                    event.time_ns,
                    event.pid,
                    std::string(event.comm),
                    next_generation(life)};
  }
  compare(event, what, view.pending->generation);
  const CpuView::Pending call = *std::exchange(view.pending, std::nullopt);
  flush(event.cpu, call, what.mask);
}

/// A task that has flushed for itself had chosen its targets before.
void Replay::on(const TraceEvent& event, const TlbFlushEvent&) {
  if (event.context == TraceContext::kTask) settle_pending(event.cpu);
}

void Replay::on(const TraceEvent&, const LostEvents& what) {
  lives_.lost();
  for (Cpu cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (what.cpu && *what.cpu != cpu) continue;
    settle_pending(cpu);
    const bool sees_switches = cpus_[cpu].sees_switches;
    cpus_[cpu] = CpuView{};
    cpus_[cpu].sees_switches = sees_switches;
  }
}

/// A call that waited for the kernel's choice of targets, and none was recorded.
void Replay::settle_pending(Cpu cpu) {
  if (!cpus_[cpu].pending) return;
  const CpuView::Pending call = *std::exchange(cpus_[cpu].pending, std::nullopt);
  const MmLife& life = life_at(call.request.mm);
  if (recorded().others_in_mask(cpu, life.slots.front())) ++result_.conformance.multi_not_seen;
  flush(cpu, call, std::nullopt);
}

void Replay::end_lives() {
  for (MmLife& life : lives_.take_ended()) {
    for (std::size_t at = 0; at < life.slots.size(); ++at) worlds_[at]->end_mm(life.slots[at]);
    if (life.tally.flushes != 0)
      result_.by_mm.push_back({life.serial, std::move(life.comm), std::move(life.tally)});
  }
  keep_top_mms();
}

/// The generation of a request that is called now: calls that wait have taken theirs already.
u64 Replay::next_generation(const MmLife& life) const {
  const auto waits = [&](const CpuView& view) {
    return view.pending && view.pending->request.mm == life.pointer;
  };
  return recorded().mm(life.slots.front()).tlb_gen + 1 +
         static_cast<u64>(std::count_if(cpus_.begin(), cpus_.end(), waits));
}

/// The kernel's switch that the model's handler has anticipated is seen.
void Replay::left(Cpu cpu) {
  const auto leaving = std::exchange(cpus_[cpu].leaving, std::nullopt);
  if (!leaving) return;
  const auto at = lives_.all().find(leaving->mm);
  if (at == lives_.all().end() || at->second.serial != leaving->serial) return;
  const MmId slot = at->second.slots.front();
  if (!recorded().has_loaded(cpu, slot)) recorded().remove_from_mask(cpu, slot);
}

/// From now on this CPU's state is known: it has `loaded` (null: `init_mm`) and no other mm.
void Replay::know(Cpu cpu, const MmLife* loaded) {
  CpuView& view = cpus_[cpu];
  if (view.state == CpuView::State::kKnown) return;
  view.state = CpuView::State::kKnown;
  if (recorded().rules.prev_bit != PrevBit::kCleared) return;
  // With eager upkeep a CPU is in the mask of what it has loaded and in no other.
  for (auto& [pointer, life] : lives_.all())
    if (&life != loaded && !life.slots.empty())
      recorded().remove_from_mask(cpu, life.slots.front());
}

/// The mm that a task flushes. On a CPU of which nothing is known the task most likely runs it.
MmLife& Replay::life_flushed(const TraceEvent& event, u64 pointer) {
  CpuView& view = cpus_[event.cpu];
  if (view.state != CpuView::State::kUnknown || view.runs_without_mm || event.pid == 0)
    return life_at(pointer);
  view.state = CpuView::State::kGuessed;
  life_at(pointer);  // older than the recording, if it is new here
  MmLife& life = lives_.arrive(pointer, event.pid, MmLives::Arrival::kScheduled);
  arrived(life);
  for (std::size_t at = 0; at < worlds_.size(); ++at)
    worlds_[at]->switch_mm(event.cpu, life.slots[at]);
  return life;
}

}  // namespace hvtlb
