#include "proptest/overlap.h"

#include <algorithm>
#include <string_view>

namespace hvtlb::proptest {
namespace {

using explore::Action;
using explore::CpuStep;
using explore::Engine;
using explore::StepKind;

template <std::size_t N>
bool is_one_of(std::string_view routine, const std::string_view (&names)[N]) {
  routine = routine.substr(0, routine.find('<'));  // of a template
  return std::find(std::begin(names), std::end(names), routine) != std::end(names);
}

/// Where the program of the CPU stands; nothing while it has ended or a handler runs.
const CpuStep* program_of(const Engine& engine, Cpu cpu) {
  return engine.runnable(cpu) && !engine.handling(cpu) ? &engine.next_step(cpu) : nullptr;
}

bool switches(const Engine& engine, Cpu cpu) {
  static constexpr std::string_view kNames[] = {"switch_mm_irqs_off", "choose_new_asid",
                                                "load_new_mm_cr3"};
  const CpuStep* const step = program_of(engine, cpu);
  return step != nullptr && is_one_of(step->site.routine, kNames);
}

/// From the increment of the generation on.
bool flushes(const Engine& engine, Cpu cpu) {
  static constexpr std::string_view kNames[] = {"should_trim_cpumask",
                                                "mm_in_asid_transition",
                                                "should_flush_tlb",
                                                "flush_tlb_multi",
                                                "native_flush_tlb_multi",
                                                "hyperv_flush_tlb_multi",
                                                "hyperv_flush_filtered",
                                                "hyperv_flush_unfiltered",
                                                "hyperv_flush_targets",
                                                "hyperv_flush_tlb_others_ex",
                                                "hyperv_call",
                                                "filter_targets",
                                                "reaches_whole_mask",
                                                "flush_tlb_func"};
  const CpuStep* const step = program_of(engine, cpu);
  return step != nullptr && is_one_of(step->site.routine, kNames);
}

bool enters_temporary_mm(const CpuStep& step) {
  static constexpr std::string_view kNames[] = {"use_temporary_mm"};
  return is_one_of(step.site.routine, kNames);
}

/// Neither between two operations nor waiting.
bool is_in_the_middle(const Engine& engine, Cpu cpu) {
  static constexpr std::string_view kFirstSteps[] = {"local_irq_save", "set_pte"};
  const CpuStep* const step = program_of(engine, cpu);
  return step != nullptr && step->kind != StepKind::kAwaitIpis &&
         step->kind != StepKind::kAwaitHost && !is_one_of(step->site.routine, kFirstSteps);
}

}  // namespace

void Overlap::watch(const Engine& engine, Action action) {
  const Cpu cpu = action.cpu();
  const CpuStep* const step = program_of(engine, cpu);
  switch (action.kind()) {
    case Action::Kind::kDeliver:
      ipi_inside_ |= is_in_the_middle(engine, cpu);
      ipi_while_waiting_ |= step != nullptr && step->kind == StepKind::kAwaitIpis;
      return;
    case Action::Kind::kEffect: effect_in_switch_ |= switches(engine, cpu); return;
    case Action::Kind::kDrain: return;
    case Action::Kind::kRun: break;
  }
  if (step != nullptr && enters_temporary_mm(*step)) inside_temporary_mm_ |= 1u << cpu;
  if (step != nullptr && step->kind == StepKind::kIrqsOn) inside_temporary_mm_ &= ~(1u << cpu);
  const bool flushing = flushes(engine, cpu);
  const bool switching = switches(engine, cpu);
  for (Cpu other = 0; other < nr_cpus_; ++other) {
    if (other == cpu || !engine.runnable(other)) continue;
    const CpuStep* const others = program_of(engine, other);
    two_flushes_ |= flushing && flushes(engine, other);
    flush_and_switch_ |=
        (flushing && switches(engine, other)) || (switching && flushes(engine, other));
    flush_and_temporary_ |= flushing && (inside_temporary_mm_ >> other & 1) != 0;
    hypercall_in_flight_ |= others != nullptr && others->kind == StepKind::kAwaitHost;
    store_overtaken_ |= !engine.memory().empty(other);
  }
}

void Overlap::add_to(Classes& classes) const {
  classes.add("a flush while another CPU switches", flush_and_switch_);
  classes.add("two flushes at once", two_flushes_);
  classes.add("a flush while another CPU is inside a temporary mm", flush_and_temporary_);
  classes.add("an IPI in the middle of a routine", ipi_inside_);
  classes.add("an IPI for a CPU that waits for its own", ipi_while_waiting_);
  classes.add("a hypercall in flight while others go on", hypercall_in_flight_);
  classes.add("a hypercall's effect in the middle of a switch", effect_in_switch_);
  classes.add("a store in its buffer while another CPU goes on", store_overtaken_);
}

}  // namespace hvtlb::proptest
