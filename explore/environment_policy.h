// The memory policy of a guest with an environment: where a further CPU may have written, a load
// comes out in several ways.
#pragma once

#include <algorithm>

#include "explore/environment.h"
#include "explore/guest_policy.h"
#include "explore/initiator_knowledge.h"

namespace hvtlb::explore {

class EnvironmentPolicy : public GuestPolicy {
 public:
  using GuestPolicy::GuestPolicy;

  bool initiator_elsewhere = false;
  const u64* batch_mask = nullptr;  ///< the word of the initiator's batch

  void reset() {
    GuestPolicy::reset();
    made_ = 0;
    knowledge_ = {};
    for (auto& both : read_)
      for (std::vector<u64>& list : both) list.clear();
  }
  void begin_operation(Cpu cpu) {
    GuestPolicy::begin_operation(cpu);
    read_[cpu][0].clear();
  }

  u64 load(Cpu cpu, const u64& word, Site site = Site::here()) {
    if (&word == &generation()) return load_generation(cpu, site);
    if (cpu != kInitiatorCpu) {
      if (&word != flushed_mm().cpumask.data()) return GuestPolicy::load(cpu, word, site);
      // It tests its own bit only.
      engine_->choose(cpu, {.kind = StepKind::kLoad, .word = &word, .site = site});
      const u64 value = engine_->memory().load(cpu, word);
      engine_->note(cpu, value >> cpu & 1);
      return value;
    }
    if (&word == &flushed_mm().next_trim_cpumask)
      return chosen(cpu, word, 2, site) == 0 ? guest_.jiffies - 1 : guest_.jiffies;
    if (&word == flushed_mm().cpumask.data()) return load_mask(cpu, word, site);
    const CpuTlbStateShared& other = guest_.cpu_tlbstate_shared[kOtherCpu];
    // It may be reached or not: laziness alone gives both.
    if (&word == &other.is_lazy) {
      const u64 lazy = chosen(cpu, word, 2, site);
      knowledge_.read_other_lazy(lazy);
      return lazy;
    }
    const CpuTlbStateShared& own = guest_.cpu_tlbstate_shared[kInitiatorCpu];
    if (initiator_elsewhere && &word == &own.loaded_mm) {
      const u64 mm = chosen(cpu, word, 2, site) == 0 ? kInitMm : kFlushedMm;
      knowledge_.read_own_mm(mm);
      return mm;
    }
    if (initiator_elsewhere && &word == &own.is_lazy) {
      const u64 lazy = chosen(cpu, word, 2, site);
      knowledge_.read_own_lazy(lazy);
      return lazy;
    }
    const u64 value = GuestPolicy::load(cpu, word, site);
    const CpuTlbStateShared& target = guest_.cpu_tlbstate_shared[kTargetCpu];
    if (&word == &target.loaded_mm) knowledge_.read_target_mm(value);
    if (&word == &target.is_lazy) knowledge_.read_target_lazy(value);
    if (&word == batch_mask) knowledge_.read_mask(site.routine, value);
    return value;
  }

  u64 locked(Cpu cpu, u64& word, RmwOp op, u64 value, Site site = Site::here()) {
    if (&word == flushed_mm().cpumask.data()) {  // nobody looks at what it was before
      engine_->choose(
          cpu, {.kind = StepKind::kLocked, .word = &word, .value = value, .op = op, .site = site});
      return SharedMemory::locked(word, op, value);
    }
    if (&word != &generation()) return GuestPolicy::locked(cpu, word, op, value, site);
    further(cpu, {.kind = StepKind::kLocked,
                  .word = &word,
                  .value = value,
                  .op = op,
                  .site = site,
                  .outcomes = kIncrements});
    const u64 before = SharedMemory::locked(word, op, value);
    made_ = word;  // that is all that the initiator remembers of it
    return before;
  }

  template <class Handler>
  void on_each_cpu(Cpu self, const CpuMask& targets, Handler handler, Site site = Site::here()) {
    const auto anew = [this, handler](Cpu cpu) {
      if (engine_->handling(cpu)) begin_handler(cpu);
      handler(cpu);
    };
    // Other CPUs answer without effect on the one that is judged. Whether it is reached is all that
    // counts now.
    CpuMask reached(guest_.nr_cpus);
    targets.for_each([&](Cpu cpu) {
      if ((judged_cpus >> cpu & 1) != 0) reached.set(cpu);
    });
    knowledge_.decided(kByIpi | u64{reached.any()});
    GuestPolicy::on_each_cpu(self, reached, anew, site);
  }

  u64 hypercall(Cpu cpu, u64 control, std::span<const u64> input, Site site = Site::here()) {
    knowledge_.decided(kByCall | u64{names_judged(control, input)});
    return GuestPolicy::hypercall(cpu, control, input, site);
  }

  void flush_targets(Cpu cpu, std::span<const u64> mask, const FlushTlbInfo& info) {
    GuestPolicy::flush_targets(cpu, mask, info);
    if (cpu == kInitiatorCpu) knowledge_.begins(info.trim_cpumask);
  }

  // The truth hears of one request only, which gets a constant number.
  void flush_requested(Cpu cpu, const FlushTlbInfo& info) {
    GuestPolicy::flush_requested(cpu, renumbered(info));
  }
  void batch_requested(Cpu cpu, const FlushTlbInfo& info) {
    GuestPolicy::batch_requested(cpu, renumbered(info));
  }
  void tables_freed(Cpu cpu, const FlushTlbInfo& info) {
    GuestPolicy::tables_freed(cpu, renumbered(info));
  }
  void flush_returned(Cpu cpu, const FlushTlbInfo& info) {
    GuestPolicy::flush_returned(cpu, renumbered(info));
  }

  /// A handler begins that a further CPU has asked for.
  void begin_handler(Cpu cpu) { read_[cpu][1].clear(); }
  /// The environment makes the next generation. Returns it.
  u64 make_generation() { return ++generation(); }
  /// A handler's request is of this generation.
  void remember(Cpu cpu, u64 value) { read_[cpu][engine_->handling(cpu)].push_back(value); }
  /// Whether the newest generation is the initiator's own.
  bool newest_is_own() const { return flushed_mm().tlb_gen == made_; }
  u64 made() const { return made_; }
  const InitiatorKnowledge& knowledge() const { return knowledge_; }
  /// The generations that the routine on this CPU has read, or its handler.
  const std::vector<u64>& read(Cpu cpu, bool handler) const { return read_[cpu][handler]; }

 private:
  /// None, one, or more: no rule asks whether it was two.
  static constexpr u32 kIncrements = 3;

  Mm& flushed_mm() { return guest_.mm(kFlushedMm); }
  const Mm& flushed_mm() const { return guest_.mm(kFlushedMm); }
  u64& generation() { return flushed_mm().tlb_gen; }

  static FlushTlbInfo renumbered(FlushTlbInfo info) {
    info.new_tlb_gen = 1;
    return info;
  }

  /// Before the step the environment has incremented the generation as often as is chosen.
  void further(Cpu cpu, const CpuStep& step) {
    const u32 increments = engine_->choose(cpu, step);
    if (!engine_->leaving()) generation() += increments;
  }

  u64 load_generation(Cpu cpu, Site site) {
    further(
        cpu,
        {.kind = StepKind::kLoad, .word = &generation(), .site = site, .outcomes = kIncrements});
    const u64 value = engine_->memory().load(cpu, generation());
    remember(cpu, value);
    return value;
  }

  /// A number below `outcomes`, as the environment pleases.
  u64 chosen(Cpu cpu, const u64& word, u32 outcomes, Site site) {
    const u32 outcome = engine_->choose(
        cpu, {.kind = StepKind::kLoad, .word = &word, .site = site, .outcomes = outcomes});
    engine_->note(cpu, outcome);
    return outcome;
  }

  u64 load_mask(Cpu cpu, const u64& word, Site site) {
    const u64 outcome = chosen(cpu, word, initiator_elsewhere ? 4 : 2, site);
    const u64 value = engine_->memory().load(cpu, word) | (outcome & 1) << kOtherCpu |
                      (outcome >> 1) << kInitiatorCpu;
    engine_->note(cpu, value);
    knowledge_.read_mask(site.routine, value);
    return value;
  }

  /// Whether the call would take effect on a CPU that is judged.
  bool names_judged(u64 control, std::span<const u64> input) {
    HostEffect effect;
    host_.call(control, input, effect);
    if (effect.all_vps) return true;
    return std::ranges::any_of(effect.vps, [&](u32 vp) {
      const Cpu cpu = guest_.cpu_of_vp(vp);
      return cpu < guest_.nr_cpus && (judged_cpus >> cpu & 1) != 0;
    });
  }

  static constexpr u64 kByIpi = 2;
  static constexpr u64 kByCall = 4;

  InitiatorKnowledge knowledge_;
  u64 made_ = 0;                                         // the generation of the initiator's flush
  std::array<std::array<std::vector<u64>, 2>, 2> read_;  // by CPU: the program's, the handler's
};

static_assert(MemoryPolicy<EnvironmentPolicy>);

}  // namespace hvtlb::explore
