// How a counterexample shows what happens between two CPUs and their environment.
#include <fmt/format.h>

#include "explore/environment_system.h"

namespace hvtlb::explore {

void EnvironmentSystem::name_words() {
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
    const std::string name = cpu < kOtherCpu ? fmt::format("cpu{}", cpu) : "another CPU";
    names_[&guest_.cpu_tlbstate_shared[cpu].loaded_mm] = name + ".loaded_mm";
    names_[&guest_.cpu_tlbstate_shared[cpu].is_lazy] = name + ".is_lazy";
    names_[&guest_.cpu_tlbstate[cpu].active_mm] = name + ".active_mm";
  }
  for (const MmId id : {kFlushedMm, kOtherMm}) {
    Mm& mm = guest_.mm(id);
    const char* name = id == kFlushedMm ? "B" : "A";
    names_[&mm.tlb_gen] = fmt::format("{}.tlb_gen", name);
    names_[&mm.next_trim_cpumask] = fmt::format("{}.next_trim_cpumask", name);
    names_[&mm.tlb_flush_batched] = fmt::format("{}.tlb_flush_batched", name);
    names_[mm.cpumask.data()] = fmt::format("{}.cpumask", name);
  }
  names_[guest_.cpu_online_mask.data()] = "cpu_online_mask";
  names_[&page_table_] = "the page table";
}

std::string EnvironmentSystem::foreign_ipi_text(u32 number) const {
  switch (number) {
    case kNewGeneration: return "takes another CPU's IPI: B, other pages, a new generation";
    case kWithoutMm: return "takes another CPU's IPI: a batch, everything";
    default: return "takes another CPU's IPI: B, other pages, the newest generation";
  }
}

std::string EnvironmentSystem::outcome_text(Cpu cpu, const CpuStep& step, u32 outcome) const {
  if (step.kind == StepKind::kChoose) {
    static constexpr const char* kNext[] = {"is to run A", "is to run B", "is to rest",
                                            "is to leave its mm"};
    return step.outcomes == 2 ? (outcome == 0 ? "goes on" : "is to flush") : kNext[outcome];
  }
  if (step.word == &guest_.mm(kFlushedMm).tlb_gen) {
    static constexpr const char* kBefore[] = {"", " (another CPU has made one)",
                                              " (other CPUs have made more)"};
    const u64 value = engine_->memory().load(cpu, *step.word) + outcome;
    return step.kind == StepKind::kLocked
               ? fmt::format("LOCK B.tlb_gen: becomes {}{}", value + 1, kBefore[outcome])
               : fmt::format("reads B.tlb_gen = {}{}", value, kBefore[outcome]);
  }
  u64 value = engine_->memory().load(cpu, *step.word);
  if (step.word == guest_.mm(kFlushedMm).cpumask.data())
    value |= u64{outcome & 1} << kOtherCpu | u64{outcome >> 1} << kInitiatorCpu;
  else if (step.word == &guest_.mm(kFlushedMm).next_trim_cpumask)
    return outcome == 0 ? "finds that it is time to trim" : "finds that it is not time to trim";
  else if (step.word == &guest_.cpu_tlbstate_shared[kInitiatorCpu].loaded_mm)
    value = outcome == 0 ? kInitMm : kFlushedMm;
  else
    value = outcome;
  return fmt::format("reads {} = {}", name_of(step.word), show(step.word, value));
}

std::string EnvironmentSystem::show_cr3(u64 cr3) const {
  const u64 top = cr3 & kCr3AddrMask;
  const char* name = top == guest_.mm(kFlushedMm).pgd ? "B"
                     : top == guest_.mm(kOtherMm).pgd ? "A"
                                                      : "init_mm";
  return fmt::format("{}, PCID {}, {}", name, cr3 & kCr3PcidMask,
                     (cr3 & kCr3NoFlush) != 0 ? "keeping what it holds" : "emptied");
}

std::string EnvironmentSystem::name_of(const u64* word) const {
  const auto found = names_.find(word);
  return found == names_.end() ? "memory" : found->second;
}

std::string EnvironmentSystem::show(const u64* word, u64 value) const {
  if (name_of(word).ends_with("mm")) {
    if (value == kLoadedMmSwitching) return "SWITCHING";
    return value == kInitMm ? "init_mm" : value == kFlushedMm ? "B" : "A";
  }
  return name_of(word).ends_with("mask") ? fmt::format("{:#x}", value) : std::to_string(value);
}

}  // namespace hvtlb::explore
