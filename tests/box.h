// A machine in short words: one call an operation, each of which must be accepted, and the record
// of every flush. For tests that tell a story in operations.
#pragma once

#include <gtest/gtest.h>
#include <initializer_list>

#include "flush/recorder.h"
#include "model/eras.h"
#include "scenario/machine.h"

namespace hvtlb::test {

/// A page somewhere in user space.
inline constexpr u64 kVa = 0x7f0000000000;

inline const Rules& rules_of(std::string_view era) {
  return find_era(era)->rules;
}

/// An era's rules with something changed.
inline Rules era_with(std::string_view era, void (*change)(Rules&)) {
  Rules rules = rules_of(era);
  change(rules);
  return rules;
}

/// A machine of `nr_cpus` CPUs that flushes natively.
inline MachineShape native(u32 nr_cpus) {
  MachineShape shape;
  shape.nr_cpus = nr_cpus;
  shape.hyperv = false;
  return shape;
}

/// The same on Hyper-V, VP n = CPU n.
inline MachineShape hyperv(u32 nr_cpus) {
  MachineShape shape;
  shape.nr_cpus = nr_cpus;
  return shape;
}

/// The same with INVLPGB: the eras that know global ASIDs look for them.
inline MachineShape with_invlpgb(MachineShape shape) {
  shape.invlpgb = true;
  return shape;
}

/// The lowest 64 members as a word.
inline u64 word_of(const CpuMask& mask) {
  u64 word = 0;
  mask.for_each([&](Cpu cpu) { word |= cpu < 64 ? u64{1} << cpu : 0; });
  return word;
}

class Box {
 public:
  Box(const Rules& rules, const MachineShape& shape, HypercallHost* host = nullptr)
      : machine(shape, rules, host),
        recorder_(machine.kernel(), machine.truth(),
                  [this](const FlushRecord& record) { flushes.push_back(record); }) {
    machine.observe(&recorder_);
  }
  Box(std::string_view era, const MachineShape& shape, HypercallHost* host = nullptr)
      : Box(rules_of(era), shape, host) {}

  MmId mm() {
    apply({.kind = OpKind::kNewMm});
    return machine.last_new_mm();
  }
  void drop(MmId id) { apply({.kind = OpKind::kDropMm, .mm = id}); }
  void run(Cpu cpu, MmId id) { apply({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = id}); }
  void lazy(Cpu cpu) { apply({.kind = OpKind::kEnterLazy, .cpu = cpu}); }
  void leave(Cpu cpu) { apply({.kind = OpKind::kLeaveMm, .cpu = cpu}); }
  void touch(Cpu cpu) { apply({.kind = OpKind::kTouch, .cpu = cpu}); }
  void tick(u64 jiffies) { apply({.kind = OpKind::kTick, .jiffies = jiffies}); }
  void offline(Cpu cpu) { apply({.kind = OpKind::kOffline, .cpu = cpu}); }
  void online(Cpu cpu) { apply({.kind = OpKind::kOnline, .cpu = cpu}); }
  void use_temporary(Cpu cpu, MmId id) {
    apply({.kind = OpKind::kUseTemporaryMm, .cpu = cpu, .mm = id});
  }
  void unuse_temporary(Cpu cpu) { apply({.kind = OpKind::kUnuseTemporaryMm, .cpu = cpu}); }
  void batch_add(MmId id, u64 va = kVa) {
    apply({.kind = OpKind::kBatchAdd, .mm = id, .start = va});
  }
  void batch_flush(Cpu cpu) { apply({.kind = OpKind::kBatchFlush, .cpu = cpu}); }
  void flush(Cpu cpu, MmId id, u64 start = kVa, u64 end = kVa + kPageSize,
             bool freed_tables = false) {
    apply({.kind = OpKind::kFlushMmRange,
           .freed_tables = freed_tables,
           .cpu = cpu,
           .mm = id,
           .start = start,
           .end = end});
  }
  void flush_freed(Cpu cpu, MmId id) { flush(cpu, id, kVa, kVa + kPageSize, true); }

  /// The lowest 64 CPUs of the mm's mask.
  u64 mask(MmId id) const { return machine.guest().mm(id).cpumask[0]; }
  u64 loaded(Cpu cpu) const { return machine.guest().cpu_tlbstate_shared[cpu].loaded_mm; }
  bool is_lazy(Cpu cpu) const { return machine.guest().cpu_tlbstate_shared[cpu].is_lazy != 0; }
  const CpuTlbState& tlb(Cpu cpu) const { return machine.guest().cpu_tlbstate[cpu]; }
  /// The generation of the slot that the CPU has loaded.
  u64 slot_gen(Cpu cpu) const { return tlb(cpu).ctxs[tlb(cpu).loaded_mm_asid].tlb_gen; }

  const FlushRecord& last() const { return flushes.back(); }
  u64 sent() const { return word_of(last().sent); }

  /// The properties that were violated, in order: "P1 P1 P4".
  std::string violated() const {
    std::string text;
    for (const Violation& violation : machine.violations()) {
      if (!text.empty()) text += ' ';
      text += name_of(violation.property);
    }
    return text;
  }

  Machine machine;
  std::vector<FlushRecord> flushes;

 private:
  void apply(const Op& op) {
    const OpError error = machine.apply(op);
    EXPECT_EQ(error, OpError::kNone) << name_of(op.kind) << ": " << message_of(error);
  }

  FlushRecorder recorder_;
};

}  // namespace hvtlb::test
