#include "scenario/runner.h"

#include <algorithm>
#include <fmt/format.h>

#include "scenario/shown_text.h"

namespace hvtlb {
namespace {

/// Where a process's pages are when a step does not say.
constexpr u64 kDefaultVa = 0x7f0000000000;

struct RunError {
  Mark at;
  std::string what;
};

[[noreturn]] void refuse(const Step& step, std::string what) {
  throw RunError{step.at, std::move(what)};
}

}  // namespace

ScenarioRunner::ScenarioRunner(const Scenario& scenario, const Rules& rules, Sink sink,
                               const Era* era, const Rules* meant)
    : scenario_(scenario),
      host_(scenario.host, existing_vps(Guest(scenario.machine))),
      machine_(scenario.machine, rules, &host_),
      sink_(std::move(sink)),
      inspector_(machine_, meant != nullptr ? *meant : rules, era,
                 [this](const FlushRecord& record) {
                   sink_({record, caller_, caller_process_, caller_pages_, measuring_ != 0});
                 }),
      runs_(scenario.machine.nr_cpus) {}

std::optional<ScenarioError> ScenarioRunner::run(const std::atomic<bool>* stop) {
  stop_ = stop;
  try {
    for (const Process& process : scenario_.processes)
      processes_[process.name] = {process.threads, new_mm(Step{}), {}};
    run_steps(scenario_.steps, std::nullopt);
  } catch (const RunError& error) {
    return ScenarioError{scenario_.file, error.at, error.what};
  }
  return std::nullopt;
}

std::vector<ScenarioRunner::MaskAtEnd> ScenarioRunner::masks_at_end() const {
  std::vector<MaskAtEnd> masks;
  const Guest& guest = machine_.guest();
  for (const auto& [name, process] : processes_)
    if (process.mm)
      masks.push_back({name,
                       CpuMask::from_words(guest.mm(*process.mm).cpumask, guest.nr_cpus).count(),
                       static_cast<u32>(process.runs_on.size())});
  return masks;
}

void ScenarioRunner::run_steps(const std::vector<Step>& steps, std::optional<Cpu> loop_cpu) {
  for (const Step& step : steps) {
    if (stopped_) return;
    if (step.verb <= Verb::kMeasure)
      run_loop(step, loop_cpu);
    else
      run_step(step, loop_cpu);
  }
}

bool ScenarioRunner::chosen(const CpuChoice& choice, Cpu cpu) const {
  if (!machine_.guest().present(cpu)) return false;
  if (choice.kind == CpuChoice::Kind::kAll) return true;
  const bool listed =
      std::any_of(choice.ranges.begin(), choice.ranges.end(),
                  [&](const auto& range) { return range.first <= cpu && cpu <= range.second; });
  return listed == (choice.kind == CpuChoice::Kind::kOf);
}

void ScenarioRunner::run_loop(const Step& step, std::optional<Cpu> loop_cpu) {
  if (step.verb == Verb::kEachCpu) {
    for (Cpu cpu = 0; cpu < machine_.guest().nr_cpus && !stopped_; ++cpu)
      if (chosen(step.cpus, cpu)) run_steps(step.body, cpu);
    return;
  }
  const bool measure = step.verb == Verb::kMeasure;
  measuring_ += measure;
  for (u64 at = 0; at < step.count && !stopped_; ++at) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
      stopped_ = true;
      break;
    }
    run_steps(step.body, loop_cpu);
    if (measure && !stopped_) ++measured_iterations_;
  }
  measuring_ -= measure;
}

std::string ScenarioRunner::full_name(const std::string& name, std::optional<Cpu> loop_cpu) const {
  const auto at = name.find('%');
  if (at == std::string::npos || !loop_cpu) return name;
  return name.substr(0, at) + fmt::format("{}", *loop_cpu) + name.substr(at + 1);
}

ScenarioRunner::ProcessState& ScenarioRunner::process_of(const Step& step,
                                                         std::optional<Cpu> loop_cpu) {
  const std::string name =
      step.process.empty() ? scenario_.processes.front().name : full_name(step.process, loop_cpu);
  const auto found = processes_.find(name);
  if (found == processes_.end())
    refuse(step, fmt::format("found the process '{}', expected one that was declared or forked",
                             shown_text(name)));
  if (!found->second.mm) refuse(step, fmt::format("the process '{}' has exited", shown_text(name)));
  caller_process_ = name;
  return found->second;
}

std::optional<Cpu> ScenarioRunner::chosen_cpu(const Step& step, std::optional<Cpu> loop_cpu) const {
  return step.cpu ? step.cpu : loop_cpu;
}

Cpu ScenarioRunner::cpu_of(const Step& step, std::optional<Cpu> loop_cpu) const {
  const auto cpu = chosen_cpu(step, loop_cpu);
  if (cpu) return *cpu;
  if (machine_.guest().nr_cpus == 1) return 0;
  refuse(step, "no CPU is named: add 'on CPU', or put the step into 'each cpu:'");
}

/// A call is made where the step says, or else where the process runs.
Cpu ScenarioRunner::sender_of(const Step& step, const ProcessState& process,
                              std::optional<Cpu> loop_cpu) const {
  if (step.cpu) return *step.cpu;
  if (loop_cpu &&
      std::find(process.runs_on.begin(), process.runs_on.end(), *loop_cpu) != process.runs_on.end())
    return *loop_cpu;
  if (!process.runs_on.empty()) return process.runs_on.front();
  if (loop_cpu) return *loop_cpu;
  refuse(step,
         fmt::format("the process '{}' runs nowhere: add 'on CPU'", shown_text(caller_process_)));
}

void ScenarioRunner::apply(const Op& op, const Step& step) {
  operations_.fetch_add(1, std::memory_order_relaxed);
  if (const OpError error = machine_.apply(op); error != OpError::kNone)
    refuse(step, fmt::format("{} (CPU {})", message_of(error), op.cpu));
}

MmId ScenarioRunner::new_mm(const Step& step) {
  apply({.kind = OpKind::kNewMm}, step);
  return machine_.last_new_mm();
}

void ScenarioRunner::stops_running(Cpu cpu) {
  if (runs_[cpu] == nullptr) return;
  std::erase(runs_[cpu]->runs_on, cpu);
  runs_[cpu] = nullptr;
}

/// The task on the CPU exits: what runs next is lazy on its mm.
void ScenarioRunner::goes_lazy(const Step& step, Cpu cpu) {
  stops_running(cpu);
  apply({.kind = OpKind::kEnterLazy, .cpu = cpu}, step);
}

void ScenarioRunner::run_on(const Step& step, ProcessState& process, Cpu cpu) {
  if (runs_[cpu] != &process) {
    if (process.runs_on.size() >= process.threads) {
      CpuMask cpus(machine_.guest().nr_cpus);
      for (const Cpu each : process.runs_on) cpus.set(each);
      const bool one = process.threads == 1;
      refuse(step, fmt::format("'{}' has {} thread{}, which run{} on CPU{} {}: raise threads, or "
                               "let {} idle",
                               shown_text(caller_process_), process.threads, one ? "" : "s",
                               one ? "s" : "", one ? "" : "s", shown_text(cpus.to_list()),
                               one ? "it" : "one"));
    }
    stops_running(cpu);
    runs_[cpu] = &process;
    process.runs_on.push_back(cpu);
  }
  apply({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = *process.mm}, step);
}

void ScenarioRunner::flush(const Step& step, const ProcessState& process, Cpu cpu, u64 start,
                           u64 end, u8 stride, bool freed_tables) {
  caller_ = step.verb;
  caller_pages_ = step.count;
  apply({.kind = OpKind::kFlushMmRange,
         .stride_shift = stride,
         .freed_tables = freed_tables,
         .cpu = cpu,
         .mm = *process.mm,
         .start = start,
         .end = end},
        step);
}

/// A process that runs nowhere yet.
void ScenarioRunner::make_process(const Step& step, const std::string& name) {
  const auto found = processes_.find(name);
  if (found != processes_.end() && found->second.mm)
    refuse(step, fmt::format("the process '{}' is alive already", shown_text(name)));
  processes_[name] = {machine_.guest().nr_cpus, new_mm(step), {}};
}

/// dup_mmap(): the parent's page tables become copy-on-write, all of them are flushed.
void ScenarioRunner::fork(const Step& step, ProcessState& process, Cpu cpu,
                          std::optional<Cpu> loop_cpu) {
  const std::string child = full_name(step.child, loop_cpu);
  const auto found = processes_.find(child);
  if (found != processes_.end() && found->second.mm)
    refuse(step, fmt::format("the process '{}' is alive already", shown_text(child)));
  flush(step, process, cpu, 0, kTlbFlushAll, 0, true);
  processes_[child] = {1, new_mm(step), {}};
}

/// begin_new_exec(): the other threads are killed (de_thread()), a fresh mm is switched to, the old
/// one loses this user.
void ScenarioRunner::exec(const Step& step, ProcessState& process, Cpu cpu) {
  if (!process.runs_on.empty() && runs_[cpu] != &process)
    refuse(step, fmt::format("the process '{}' does not run on CPU {}", shown_text(caller_process_),
                             cpu));
  const std::vector<Cpu> cpus = process.runs_on;
  for (const Cpu each : cpus)
    if (each != cpu) goes_lazy(step, each);
  const MmId old = *process.mm;
  process.mm = new_mm(step);
  run_on(step, process, cpu);
  apply({.kind = OpKind::kDropMm, .mm = old}, step);
}

/// exit_mmap(): the tasks go lazy on their own mm, the last one flushes it whole with its tables.
void ScenarioRunner::exit(const Step& step, ProcessState& process, Cpu cpu) {
  const std::vector<Cpu> cpus = process.runs_on;
  for (const Cpu each : cpus) goes_lazy(step, each);
  flush(step, process, cpu, 0, kTlbFlushAll, 0, true);
  apply({.kind = OpKind::kDropMm, .mm = *process.mm}, step);
  process.mm.reset();
}

void ScenarioRunner::run_step(const Step& step, std::optional<Cpu> loop_cpu) {
  const u64 va = step.va.value_or(kDefaultVa);
  switch (step.verb) {
    case Verb::kRun: {
      ProcessState& process = process_of(step, loop_cpu);
      return run_on(step, process, cpu_of(step, loop_cpu));
    }
    case Verb::kIdle:
    case Verb::kLeaveMm: {
      const Cpu cpu = cpu_of(step, loop_cpu);
      stops_running(cpu);
      if (step.verb == Verb::kLeaveMm) apply({.kind = OpKind::kEnterLazy, .cpu = cpu}, step);
      const OpKind kind = step.verb == Verb::kIdle ? OpKind::kEnterLazy : OpKind::kLeaveMm;
      return apply({.kind = kind, .cpu = cpu}, step);
    }
    case Verb::kTouch: {
      // Whatever runs on the CPU, where only that is named.
      const auto named = chosen_cpu(step, loop_cpu);
      if (step.process.empty() && named)
        return apply({.kind = OpKind::kTouch, .cpu = *named}, step);
      const ProcessState& process = process_of(step, loop_cpu);
      const Cpu cpu = sender_of(step, process, loop_cpu);
      if (!step.process.empty() && runs_[cpu] != &process)
        refuse(step, fmt::format("the process '{}' does not run on CPU {}",
                                 shown_text(caller_process_), cpu));
      return apply({.kind = OpKind::kTouch, .cpu = cpu}, step);
    }
    case Verb::kMprotect:
    case Verb::kMadvise:
    case Verb::kMunmap:
    case Verb::kMremap: {
      // flush_tlb_range() always says that tables were freed; mprotect() and munmap() go through
      // the mmu gather, which knows.
      const bool freed_tables = step.freed_tables || step.verb == Verb::kMremap;
      const ProcessState& process = process_of(step, loop_cpu);
      return flush(step, process, sender_of(step, process, loop_cpu), va,
                   va + step.count * kPageSize, kPageShift, freed_tables);
    }
    case Verb::kFlush: {
      const ProcessState& process = process_of(step, loop_cpu);
      return flush(step, process, sender_of(step, process, loop_cpu), step.start, step.end,
                   step.stride_shift, step.freed_tables);
    }
    case Verb::kFork: {
      ProcessState& process = process_of(step, loop_cpu);
      return fork(step, process, sender_of(step, process, std::nullopt), loop_cpu);
    }
    case Verb::kExec: {
      ProcessState& process = process_of(step, loop_cpu);
      return exec(step, process, sender_of(step, process, loop_cpu));
    }
    case Verb::kExit: {
      ProcessState& process = process_of(step, loop_cpu);
      return exit(step, process, sender_of(step, process, loop_cpu));
    }
    case Verb::kBatchAdd:
      return apply({.kind = OpKind::kBatchAdd, .mm = *process_of(step, loop_cpu).mm, .start = va},
                   step);
    case Verb::kBatchFlush:
      caller_ = step.verb;
      caller_process_ = "";
      caller_pages_ = 0;
      return apply({.kind = OpKind::kBatchFlush, .cpu = cpu_of(step, loop_cpu)}, step);
    case Verb::kFlushBatchedPending: {
      const ProcessState& process = process_of(step, loop_cpu);
      const Cpu cpu = sender_of(step, process, loop_cpu);
      caller_ = step.verb;
      caller_pages_ = 0;
      return apply({.kind = OpKind::kFlushBatchedPending, .cpu = cpu, .mm = *process.mm}, step);
    }
    case Verb::kNestedReclaim: return apply({.kind = OpKind::kNestedReclaim}, step);
    case Verb::kNewMm: return make_process(step, full_name(step.process, loop_cpu));
    case Verb::kDropMm: {
      ProcessState& process = process_of(step, loop_cpu);
      apply({.kind = OpKind::kDropMm, .mm = *process.mm}, step);
      for (Cpu cpu : process.runs_on) runs_[cpu] = nullptr;
      process.runs_on.clear();
      return process.mm.reset();
    }
    case Verb::kEnableLam:
      return apply({.kind = OpKind::kEnableLam, .cpu = cpu_of(step, loop_cpu)}, step);
    case Verb::kUseGlobalAsid: {
      const ProcessState& process = process_of(step, loop_cpu);
      const Cpu cpu = sender_of(step, process, loop_cpu);
      return apply({.kind = OpKind::kUseGlobalAsid, .cpu = cpu, .mm = *process.mm}, step);
    }
    case Verb::kTick: return apply({.kind = OpKind::kTick, .jiffies = step.count}, step);
    case Verb::kOffline: {
      const Cpu cpu = cpu_of(step, loop_cpu);
      stops_running(cpu);
      return apply({.kind = OpKind::kOffline, .cpu = cpu}, step);
    }
    case Verb::kOnline:
      return apply({.kind = OpKind::kOnline, .cpu = cpu_of(step, loop_cpu)}, step);
    case Verb::kUseTemporaryMm: {
      const MmId mm = *process_of(step, loop_cpu).mm;
      return apply({.kind = OpKind::kUseTemporaryMm, .cpu = cpu_of(step, loop_cpu), .mm = mm},
                   step);
    }
    case Verb::kUnuseTemporaryMm:
      return apply({.kind = OpKind::kUnuseTemporaryMm, .cpu = cpu_of(step, loop_cpu)}, step);
    case Verb::kEachCpu:
    case Verb::kRepeat:
    case Verb::kMeasure: return;
  }
}

}  // namespace hvtlb
