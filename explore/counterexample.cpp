#include "explore/counterexample.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace hvtlb::explore {
namespace {

std::string cpus_of(u64 mask) {
  CpuMask cpus(kMaxExploredCpus);
  for (Cpu cpu = 0; cpu < kMaxExploredCpus; ++cpu)
    if ((mask >> cpu & 1) != 0) cpus.set(cpu);
  return cpus.to_list();
}

std::string operation_of(const CpuStep& step) {
  switch (step.op) {
    case RmwOp::kAdd: return fmt::format("+= {}", step.value);
    case RmwOp::kOr: return fmt::format("|= {:#x}", step.value);
    case RmwOp::kAnd: return fmt::format("&= ~{:#x}", ~step.value);
  }
  return {};
}

/// What the step is about to do; loads show what they will read.
std::string text_of(const System& system, const Engine& engine, Cpu cpu, const CpuStep& step) {
  const bool buffers = engine.memory().model() == MemoryModel::kTso;
  switch (step.kind) {
    case StepKind::kLoad: {
      const u64 value = engine.memory().load(cpu, *step.word);
      const bool own = value != *step.word;
      return fmt::format("reads {} = {}{}", system.name_of(step.word),
                         system.show(step.word, value), own ? " (from its own buffer)" : "");
    }
    case StepKind::kStore:
      return fmt::format("{} := {}{}", system.name_of(step.word),
                         system.show(step.word, step.value),
                         buffers ? " (into its store buffer)" : "");
    case StepKind::kLocked:
      return fmt::format("LOCK {} {}", system.name_of(step.word), operation_of(step));
    case StepKind::kCmpXchg: {
      const bool fits = *step.word == step.expected;
      return fmt::format("LOCK {}: {}{}", system.name_of(step.word),
                         fits ? "becomes " : "has changed, stays ",
                         system.show(step.word, fits ? step.value : *step.word));
    }
    case StepKind::kWaitWhile:
      return fmt::format("has waited: reads {} = {}", system.name_of(step.word),
                         system.show(step.word, engine.memory().load(cpu, *step.word)));
    case StepKind::kFence: return "full fence";
    case StepKind::kIrqsOff: return "interrupts off";
    case StepKind::kIrqsOn: return "interrupts on";
    case StepKind::kWriteCr3: return "CR3 := " + system.show_cr3(step.value);
    case StepKind::kInvlpg: return fmt::format("INVLPG {:#x}", step.value);
    case StepKind::kInvlpgb:
      return step.value == 0 ? std::string("INVLPGB, every PCID")
                             : fmt::format("INVLPGB, PCID {}", step.value);
    case StepKind::kTlbsync: return "TLBSYNC: the broadcasts have taken effect everywhere";
    case StepKind::kSendIpis: return "sends IPIs to CPUs " + cpus_of(step.value);
    case StepKind::kAwaitIpis: return "all handlers have run";
    case StepKind::kStopMachine: return "no other CPU is inside an operation";
    case StepKind::kEndHandler: return "returns from interrupt";
    case StepKind::kHypercall: return fmt::format("hypercall, control word {:#x}", step.value);
    case StepKind::kChoose: return "goes on";
    case StepKind::kAwaitHost: return fmt::format("the call returns, CPUs {}", cpus_of(step.value));
  }
  return {};
}

Row row_of(const System& system, const Engine& engine, Action action) {
  Row row{action, action.cpu(), {}, 0, {}};
  switch (action.kind()) {
    case Action::Kind::kRun: {
      const CpuStep& step = engine.next_step(row.cpu);
      row.routine = step.site.routine;
      row.routine.resize(std::min(row.routine.find('<'), row.routine.size()));  // no template
      row.line = step.site.line;
      row.text = step.outcomes > 1 ? system.outcome_text(row.cpu, step, action.other())
                                   : text_of(system, engine, row.cpu, step);
      break;
    }
    case Action::Kind::kDrain: {
      const BufferedStore& store = engine.memory().buffer(row.cpu).front();
      row.text = fmt::format("its store {} = {} reaches memory", system.name_of(store.word),
                             system.show(store.word, store.value));
      break;
    }
    case Action::Kind::kDeliver:
      row.text = (system.foreign_ipis(action.cpu()) >> action.other() & 1) != 0
                     ? system.foreign_ipi_text(action.other())
                     : fmt::format("takes the IPI of CPU {}", action.other());
      break;
    case Action::Kind::kEffect: row.text = system.effect_text(action.cpu(), action.other()); break;
  }
  return row;
}

/// Breaks a text at blanks into lines of at most `width`.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.push_back("  " + word);
    else
      lines.back() += (lines.back().empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string text_of(Action action) {
  switch (action.kind()) {
    case Action::Kind::kRun: return fmt::format("CPU {} takes its next step", action.cpu());
    case Action::Kind::kDrain: return fmt::format("a store of CPU {} reaches memory", action.cpu());
    case Action::Kind::kDeliver:
      return fmt::format("CPU {} takes the IPI of CPU {}", action.cpu(), action.other());
    case Action::Kind::kEffect:
      return fmt::format("the host flushes CPU {} for CPU {}", action.cpu(), action.other());
  }
  return {};
}

std::vector<Row> rows_of(System& system, MemoryModel model, std::span<const Action> schedule) {
  return rerun(system, model, schedule).rows;
}

Rerun rerun(System& system, MemoryModel model, std::span<const Action> schedule) {
  Engine engine(system, model);
  system.take_events();
  Rerun result;
  const auto judge = [&] {
    if (result.violation) return;
    result.violation = system.check(engine.settled());
    result.violated_after = result.rows.size();
  };
  judge();
  for (const Action action : schedule) {
    if ((engine.enabled() & action.bit()) == 0) {
      for (u64 actions = engine.enabled(); actions != 0; actions &= actions - 1)
        result.possible += (result.possible.empty() ? "" : ", or ") +
                           text_of(Action(static_cast<u8>(std::countr_zero(actions))));
      if (result.possible.empty()) result.possible = "no more actions";
      return result;
    }
    Row row = row_of(system, engine, action);
    engine.perform(action);
    row.text += system.take_events();
    result.rows.push_back(std::move(row));
    judge();
  }
  return result;
}

std::string table_of(const std::vector<Row>& rows, u32 nr_cpus) {
  constexpr std::size_t kWidth = 44;
  std::string text = " step ";
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu)
    text += fmt::format("| {:<{}} ", fmt::format("CPU {}", cpu), kWidth);
  text += "\n";
  std::string routines[kMaxExploredCpus];
  const auto print = [&](const std::string& number, Cpu column, const std::string& cell) {
    text += fmt::format("{:>5} ", number);
    for (Cpu cpu = 0; cpu < nr_cpus; ++cpu)
      text += fmt::format("| {:<{}} ", cpu == column ? cell : "", kWidth);
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  };
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Row& row = rows[at];
    if (!row.routine.empty() && row.routine != routines[row.cpu])
      print("", row.cpu, (routines[row.cpu] = row.routine) + "()");
    bool first = true;
    for (const std::string& line : wrapped(row.text, kWidth - 2)) {
      print(first ? std::to_string(at + 1) : "", row.cpu, "  " + line);
      first = false;
    }
  }
  return text;
}

}  // namespace hvtlb::explore
