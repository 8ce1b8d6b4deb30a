// One era's machine, driven by a recording: guest, truth, host and the record of every flush.
#pragma once

#include <array>
#include <string>

#include "flush/named_targets.h"
#include "flush/recorder.h"
#include "model/live_mask.h"
#include "trace/event.h"

namespace hvtlb {

/// The properties that a sequential run judges: P1 to P4.
inline constexpr u32 kNrJudged = 4;

class ReplayWorld {
 public:
  ReplayWorld(std::string era_name, const Rules& era_rules, const MachineShape& shape);
  ReplayWorld(const ReplayWorld&) = delete;
  ReplayWorld& operator=(const ReplayWorld&) = delete;

  const std::string name;
  const Rules rules;

  void set_jiffies(u64 jiffies) { guest_.jiffies = jiffies; }
  MmId new_mm();
  /// Nobody uses the mm any more; it goes when no CPU has it loaded.
  void end_mm(MmId mm);

  /// A task of `mm` runs on `cpu`. REQUIRES: `mm` is not `kInitMm`.
  void switch_mm(Cpu cpu, MmId mm);
  void enter_lazy(Cpu cpu);
  void leave_mm(Cpu cpu);

  /// The pages of the request just changed; `cpu` flushes them. Returns what the flush did; valid
  /// until the next one.
  const FlushRecord& flush_mm_range(Cpu cpu, MmId mm, const FlushRangeEvent& request);

  /// A batch of unmapped pages of unknown mms is flushed over `mask`.
  const FlushRecord& flush_batch(Cpu cpu, std::span<const u64> mask);

  const Mm& mm(MmId id) const { return guest_.mm(id); }
  void add_to_mask(Cpu cpu, MmId mm) { guest_.mm(mm).cpumask[cpu / kBitsPerWord] |= bit_of(cpu); }
  void remove_from_mask(Cpu cpu, MmId mm) {
    guest_.mm(mm).cpumask[cpu / kBitsPerWord] &= ~bit_of(cpu);
  }
  bool has_loaded(Cpu cpu, MmId mm) const {
    return guest_.cpu_tlbstate_shared[cpu].loaded_mm == mm;
  }
  bool is_lazy(Cpu cpu) const { return guest_.cpu_tlbstate_shared[cpu].is_lazy != 0; }
  CpuMask cpumask(MmId mm) const {
    return CpuMask::from_words(guest_.mm(mm).cpumask, guest_.nr_cpus);
  }
  /// Whether a CPU other than `cpu` is in the mm's mask: the flush would not be local.
  bool others_in_mask(Cpu cpu, MmId mm) const;

  /// By property, P1 first.
  const std::array<u64, kNrJudged>& violations() const { return violations_; }
  const std::optional<Violation>& first_violation() const { return first_violation_; }

 private:
  Kernel<SequentialPolicy> kernel() { return {guest_, rules, policy_}; }
  void settle();

  Guest guest_;
  Truth truth_;
  NamedTargetsHost host_;
  SequentialPolicy policy_;
  FlushRecord last_flush_;
  FlushRecorder recorder_;
  std::vector<MmId> dying_;
  std::array<u64, kNrJudged> violations_{};
  std::optional<Violation> first_violation_;
};

}  // namespace hvtlb
