#include "scenario/decide.h"

#include "flush/decision.h"
#include "host/decode.h"
#include "scenario/profile_host.h"

namespace hvtlb {
namespace {

/// The policy of one decision that also notices the local flush, and runs its handler on the copy.
struct LocalToo : DecisionPolicy {
  explicit LocalToo(Guest& of) : guest(of) {}
  Guest& guest;
  bool local = false;
  void irq_save(Cpu cpu) { ++guest.cpu_tlbstate[cpu].irqs_off; }
  void irq_restore(Cpu cpu) { --guest.cpu_tlbstate[cpu].irqs_off; }
  void flush_local(Cpu, const FlushTlbInfo&) { local = true; }
};

}  // namespace

Decision decide(const Guest& guest, const Rules& rules, const Op& op) {
  Guest copy = guest;
  LocalToo policy(copy);
  Kernel<LocalToo> k{copy, rules, policy};
  flush_tlb_mm_range(k, op.cpu, op.mm, op.start, op.end, op.stride_shift, op.freed_tables);
  Decision decision;
  decision.targets = CpuMask(guest.nr_cpus);
  decision.trim = policy.native_trim;
  if (policy.native) {
    decision.targets = policy.targets;
  } else if (policy.local) {
    decision.targets.set(op.cpu);
  } else if (policy.called) {
    // KVM takes every call that the builders make, the empty one of Z14 included.
    const auto reaction = host::decode(host::Profile::kvm, policy.control, input_of(policy.input),
                                       existing_vps(guest), kVpInvalid);
    const u16 code = host::Control(policy.control).code();
    decision.ex = code >= 0x13;
    decision.all_processors = !decision.ex && (policy.input[1] & 1) != 0;
    for (Cpu cpu = 0; cpu < guest.nr_cpus && decision.all_processors; ++cpu)
      if (guest.online(cpu)) decision.targets.set(cpu);
    for (const u32 vp : reaction.flushed)
      if (const u32 cpu = guest.cpu_of_vp(vp); cpu != kVpInvalid && guest.online(cpu))
        decision.targets.set(cpu);
  }
  return decision;
}

}  // namespace hvtlb
