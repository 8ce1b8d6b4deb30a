#include "flush/recorder.h"

#include "flush/predicate.h"
#include "flush/wire.h"

namespace hvtlb {

std::string_view name_of(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"none", "local", "native", "hypercall"};
  return kNames[static_cast<unsigned>(outcome)];
}

std::string_view name_of(Excess excess) {
  static constexpr std::string_view kNames[] = {"offline", "self", "switching", "lazy", "stale"};
  return kNames[static_cast<unsigned>(excess)];
}

void FlushRecord::begin(const FlushTlbInfo& info, std::span<const u64> mask_words, u32 nr_cpus) {
  request = info;
  mask.assign_words(mask_words, nr_cpus);
  for (CpuMask* set : {&needed, &native, &sent, &by_ipi}) set->assign_empty(nr_cpus);
  for (CpuMask& set : excess) set.assign_empty(nr_cpus);
  outcome = Outcome::kNone;
  trim = swept_by_all = fell_back = false;
  hypercalls.clear();
}

bool FlushRecorder::needs(Cpu cpu, const FlushTlbInfo& info) const {
  if (!kernel_.guest.online(cpu)) return false;
  if (info.has_mm) {
    if (!truth_.selects(cpu, info.mm)) return false;
    if (info.freed_tables) return true;
    return truth_.uses(cpu) == info.mm && truth_.may_hold_old(cpu, info.mm, covered_range(info));
  }
  for (const auto& each : kernel_.mem.pending)
    if (truth_.uses(cpu) == each.mm && truth_.may_hold_old(cpu, each.mm, each.range)) return true;
  return false;
}

Excess FlushRecorder::classify(Cpu cpu) const {
  const CpuTlbStateShared& shared = kernel_.guest.cpu_tlbstate_shared[cpu];
  if (!kernel_.guest.online(cpu)) return Excess::kOffline;
  if (cpu == record_.request.initiating_cpu) return Excess::kSelf;
  if (shared.loaded_mm == kLoadedMmSwitching) return Excess::kSwitching;
  if (shared.is_lazy != 0) return Excess::kLazy;
  return Excess::kStale;
}

void FlushRecorder::targets_chosen(Cpu self, std::span<const u64> mask, const FlushTlbInfo& info) {
  const u32 nr_cpus = kernel_.guest.nr_cpus;
  record_.begin(info, mask, nr_cpus);
  class_of_.resize(nr_cpus);
  const bool unconditional = reaches_whole_mask(kernel_, self, info);
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) {
    if (needs(cpu, info)) record_.needed.set(cpu);
    class_of_[cpu] = classify(cpu);
  }
  record_.mask.for_each([&](Cpu cpu) {
    if (kernel_.guest.online(cpu) && (unconditional || should_flush_tlb(kernel_, self, cpu, info)))
      record_.native.set(cpu);
  });
}

void FlushRecorder::flushed_locally(Cpu cpu, const FlushTlbInfo&) {
  record_.outcome = Outcome::kLocal;
  record_.sent.set(cpu);
}

void FlushRecorder::sent_natively(Cpu self, const CpuMask& targets, const FlushTlbInfo& info) {
  record_.fell_back = record_.outcome == Outcome::kHypercall;
  record_.outcome = Outcome::kNative;
  record_.trim = info.trim_cpumask;
  record_.sent |= targets;
  record_.by_ipi = targets;
  record_.by_ipi.reset(self);
}

void FlushRecorder::called(Cpu, u64 control, std::span<const u64> input, const HostEffect& effect) {
  record_.outcome = Outcome::kHypercall;
  const auto words = input.first(hv::input_words(control));
  record_.hypercalls.push_back({control, effect.result, {words.begin(), words.end()}});
  const Guest& guest = kernel_.guest;
  const bool all_flag =
      !hv::is_ex(hv::call_code(control)) && (input[hv::kFlagsWord] & hv::kFlushAllProcessors) != 0;
  if (all_flag) record_.swept_by_all = true;
  if (effect.all_vps) {
    for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu)
      if (guest.present(cpu)) record_.sent.set(cpu);
  }
  for (u32 vp : effect.vps)
    if (const u32 cpu = guest.cpu_of_vp(vp); cpu != kVpInvalid) record_.sent.set(cpu);
}

void FlushRecorder::returned(Cpu, const FlushTlbInfo&) {
  record_.sent.for_each([&](Cpu cpu) {
    if (!record_.needed.test(cpu)) record_.excess[static_cast<u32>(class_of_[cpu])].set(cpu);
  });
  sink_(record_);
}

}  // namespace hvtlb
