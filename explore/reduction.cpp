#include "explore/reduction.h"

namespace hvtlb::explore {

/// Why each of them commutes with all that may come before it from elsewhere:
///  - a store only enters the CPU's own buffer. With interrupts on it would keep an IPI waiting.
///  - a load of a word that no other CPU writes; nor this CPU's handlers, if they may run.
///  - interrupts on: it disables nothing, and an IPI that waits for it cannot come before it. It
///    lets more properties be judged, and they still are when the others have moved on.
bool Reduction::is_independent(const Engine& engine, Cpu cpu, const CpuStep& step) {
  // To begin an operation is to keep the machine from being stopped.
  if (engine.stops_machine() && engine.between_operations(cpu)) return false;
  switch (step.kind) {
    case StepKind::kStore:
      return engine.memory().model() == MemoryModel::kTso && engine.has_irqs_off(cpu);
    case StepKind::kIrqsOn: return true;
    case StepKind::kLoad: {
      Word& word = words_[step.word];
      const bool no_handler = engine.has_irqs_off(cpu);
      if ((word.writers & ~(no_handler ? 1u << cpu : 0)) != 0) return false;
      word.trusting |= 1u << cpu;
      word.trusted_by_all |= !no_handler;
      return true;
    }
    default: return false;
  }
}

std::optional<Action> Reduction::only(const Engine& engine, u64 enabled) {
  for (Cpu cpu = 0; cpu < kMaxExploredCpus; ++cpu) {
    const Action run = Action::run(cpu);
    if ((enabled & run.bit()) != 0 && is_independent(engine, cpu, engine.next_step(cpu)))
      return run;
  }
  return std::nullopt;
}

void Reduction::performing(const Engine& engine, Action action) {
  if (action.kind() != Action::Kind::kRun) return;
  const Cpu cpu = action.cpu();
  const CpuStep& step = engine.next_step(cpu);
  if (step.kind != StepKind::kStore && step.kind != StepKind::kLocked &&
      step.kind != StepKind::kCmpXchg)
    return;
  writes(cpu, step.word);
  // States that are left out for one that is like them, with CPUs exchanged, write the same words
  // with CPUs exchanged.
  const Symmetry* const symmetry = engine.symmetry();
  if (symmetry == nullptr) return;
  for (const CpuOrder& order : symmetry->orders())
    writes(order.name_of(cpu), symmetry->renamed(order, step.word));
}

void Reduction::writes(Cpu cpu, const u64* address) {
  Word& word = words_[address];
  word.writers |= 1u << cpu;
  if ((word.trusting & ~(1u << cpu)) != 0 || word.trusted_by_all) was_wrong_ = true;
}

}  // namespace hvtlb::explore
