#include "fuzz/eras_target.h"

#include <fmt/format.h>

#include "flush/decision.h"
#include "fuzz/op_count.h"
#include "fuzz/ops_input.h"
#include "model/eras.h"
#include "scenario/machine.h"
#include "scenario/profile_host.h"

namespace hvtlb::fuzz {
namespace {

/// Decides, and asks the specification's host whom the bytes reach.
struct ReachPolicy : DecisionPolicy {
  Guest& guest;
  const std::vector<u32> vps;
  bool local = false;
  bool trims = false;
  host::Reaction reaction;
  bool all_vps = false;  ///< those whose index the guest does not know, too

  explicit ReachPolicy(Guest& g) : guest(g), vps(hvtlb::existing_vps(g)) {}

  // A local flush may switch mms, which asks whether interrupts are off.
  void irq_save(Cpu cpu) { ++guest.cpu_tlbstate[cpu].irqs_off; }
  void irq_restore(Cpu cpu) { --guest.cpu_tlbstate[cpu].irqs_off; }
  void flush_targets(Cpu, std::span<const u64>, const FlushTlbInfo& info) {
    trims |= info.trim_cpumask;
  }
  void flush_local(Cpu, const FlushTlbInfo&) { local = true; }
  u64 hypercall(Cpu, u64 control_word, std::span<const u64> page) {
    called = true;
    all_vps = (page[hv::kFlagsWord] & hv::kFlushAllProcessors) != 0;
    reaction = host::decode(host::Profile::tlfs, control_word, input_of(page), vps, kVpInvalid);
    return hv::result_word(reaction.status, reaction.reps_completed);
  }
};

struct Reach {
  CpuMask online_cpus;  ///< those that are reached
  bool trim_round = false;
  std::string_view way;  ///< which the flush took
};

/// Whom the flush reaches under these rules. The guest is a copy.
Reach reach_of(Guest guest, const Rules& rules, const Op& op) {
  ReachPolicy policy(guest);
  Kernel<ReachPolicy> k{guest, rules, policy};
  flush_tlb_mm_range(k, op.cpu, op.mm, op.start, op.end, op.stride_shift, op.freed_tables);
  Reach reach{CpuMask(guest.nr_cpus), policy.trims || policy.native_trim, "nobody"};
  if (policy.local) {
    reach.way = "locally";
    reach.online_cpus.set(op.cpu);
  }
  if (policy.native) {
    reach.way = policy.called ? "natively after a call" : "natively";
    reach.online_cpus |= policy.targets;
  } else if (policy.called) {
    reach.way = "by hypercall";
    if (policy.all_vps)
      reach.online_cpus |= CpuMask::from_words(guest.cpu_present_mask, guest.nr_cpus);
    for (const u32 vp : policy.reaction.flushed)
      if (const u32 cpu = guest.cpu_of_vp(vp); cpu != kVpInvalid) reach.online_cpus.set(cpu);
  }
  reach.online_cpus &= CpuMask::from_words(guest.cpu_online_mask, guest.nr_cpus);
  return reach;
}

Finding compare(const Guest& guest, const Op& op, const Rules& newer, const Rules& older) {
  const Reach fewer = reach_of(guest, newer, op);
  const Reach more = reach_of(guest, older, op);
  if (fewer.trim_round || more.trim_round) return std::nullopt;
  if (fewer.online_cpus.is_subset_of(more.online_cpus)) return std::nullopt;
  return fmt::format("the newer era reaches CPUs {} {}, the older one {} {}",
                     fewer.online_cpus.to_list(), fewer.way, more.online_cpus.to_list(), more.way);
}

/// Runs the operations under `running` and compares before each flush.
Finding run_pair(const OpsInput& input, const Rules& running, const Rules& newer,
                 const Rules& older) {
  Machine machine(input.shape, running);
  for (const Op& op : input.ops) {
    Finding finding;
    const Guest& guest = machine.guest();
    const bool flush = op.kind == OpKind::kFlushMmRange && !op.freed_tables && guest.alive(op.mm) &&
                       guest.online(op.cpu) && !guest.cpu_tlbstate[op.cpu].temporary_mm_prev;
    if (flush) finding = compare(guest, op, newer, older);
    ++op_count.done;
    const bool done = machine.apply(op) == OpError::kNone;
    if (done && finding)
      return fmt::format("CPU {} of {}, mm {}: {}", op.cpu, guest.nr_cpus, op.mm, *finding);
  }
  return std::nullopt;
}

}  // namespace

Finding run_eras(std::span<const u8> bytes, const Rules* newer) {
  OpsInput input = read_ops_input(bytes);
  input.shape.hyperv = true;
  const Rules& before_fix = find_era(kEraBeforeFix)->rules;
  const Rules& v64 = find_era("v6.4")->rules;
  const Rules& with_fix = newer != nullptr ? *newer : find_era(kEraWithFix)->rules;
  // The input's era chooses the pair: one machine an execution.
  if (input.era % 2 == 0) return run_pair(input, before_fix, with_fix, before_fix);
  return run_pair(input, v64, v64, find_era("v6.1")->rules);
}

}  // namespace hvtlb::fuzz
