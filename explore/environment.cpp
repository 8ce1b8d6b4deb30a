#include "explore/environment.h"

#include "explore/environment_search.h"

namespace hvtlb::explore {
namespace {

/// The next step of a CPU commutes with all that may come before it from elsewhere:
///  - a load of words that nobody else writes, whatever the environment wrote;
///  - a store into the CPU's own buffer, while no IPI can wait for it;
///  - a fence when the buffer is empty already, while no handler can run before it;
///  - interrupts off, when nothing came before it in its operation but the choice of it: an
///    interrupt that comes after the choice may as well come before it;
///  - interrupts on, the return from one: they disable nothing.
bool commutes(const EnvironmentSystem& system, const Engine& engine, Cpu cpu) {
  const CpuStep& step = engine.next_step(cpu);
  const bool undisturbed = engine.has_irqs_off(cpu) || !system.takes_ipis(cpu);
  switch (step.kind) {
    case StepKind::kLoad: return system.is_private(cpu, step.word, undisturbed);
    case StepKind::kStore: return undisturbed && engine.memory().model() == MemoryModel::kTso;
    case StepKind::kFence: return undisturbed;
    case StepKind::kIrqsOff: return engine.between_operations(cpu) || !system.takes_ipis(cpu);
    case StepKind::kIrqsOn:
    case StepKind::kEndHandler: return true;
    default: return false;
  }
}

u64 outcomes_of(Cpu cpu, const CpuStep& step) {
  u64 actions = 0;
  for (u32 outcome = 0; outcome < step.outcomes; ++outcome)
    actions |= Action::run(cpu, outcome).bit();
  return actions;
}

}  // namespace

/// Every cycle of states has one without reduction: where a program chooses its next operation, or
/// an IPI is taken.
Reduce environment_reduction(const EnvironmentSystem& system) {
  return [&system](const Engine& engine, u64 enabled) {
    for (const Cpu cpu : {kInitiatorCpu, kTargetCpu})
      if ((enabled & Action::run(cpu).bit()) != 0 && commutes(system, engine, cpu))
        return outcomes_of(cpu, engine.next_step(cpu));
    return enabled;
  };
}

namespace {

Reduce reduction_of(const EnvironmentSystem& system, const Options& options) {
  if (options.reduce) return environment_reduction(system);
  return [](const Engine&, u64 enabled) { return enabled; };
}

}  // namespace

Verdict explore_environment(EnvironmentSystem& system, const Options& options) {
  return breadth_first(system, options, reduction_of(system, options));
}

MergeCheck check_environment_merges(EnvironmentSystem& system, const Options& options,
                                    u64 most_states) {
  constexpr u32 kRandomWalks = 100;
  return check_merges(system, options, reduction_of(system, options), {most_states, kRandomWalks});
}

std::string_view name_of(FlushShape flush) {
  switch (flush) {
    case FlushShape::kPage: return "page";
    case FlushShape::kTables: return "tables";
    case FlushShape::kSpace: return "space";
    case FlushShape::kBatch: return "batch";
  }
  return {};
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kPlain: return "plain";
    case Layout::kSpareCpu: return "spare-cpu";
    case Layout::kHighTarget: return "high-target";
    case Layout::kHighOther: return "high-other";
  }
  return {};
}

std::string_view initiator_text(const EnvironmentCase& which) {
  if (which.alone) return "alone";
  return which.initiator == Initiator::kRuns ? "runs the mm" : "elsewhere";
}

}  // namespace hvtlb::explore
