#include "scenario/machine.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/hotplug.h"
#include "model/lam.h"

namespace hvtlb {

Machine::Machine(const MachineShape& shape, const Rules& rules, HypercallHost* host)
    : rules_(rules),
      guest_(shape),
      truth_(shape.nr_cpus),
      policy_(guest_, truth_, host != nullptr ? *host : named_targets_),
      dropped_(1),
      used_before_temporary_(shape.nr_cpus, kInitMm) {}

OpError Machine::check(const Op& op) const {
  const bool names_cpu = op.kind != OpKind::kTick && op.kind != OpKind::kBatchAdd &&
                         op.kind != OpKind::kNestedReclaim && op.kind != OpKind::kNewMm &&
                         op.kind != OpKind::kDropMm;
  if (names_cpu) {
    if (op.cpu >= guest_.nr_cpus) return OpError::kNoSuchCpu;
    if (!guest_.present(op.cpu)) return OpError::kCpuNotPresent;
    if (op.kind == OpKind::kOnline)
      return guest_.online(op.cpu) ? OpError::kCpuOnline : OpError::kNone;
    if (!guest_.online(op.cpu)) return OpError::kCpuOffline;
    const bool inside = guest_.cpu_tlbstate[op.cpu].temporary_mm_prev.has_value();
    if (op.kind == OpKind::kUnuseTemporaryMm)
      return inside ? OpError::kNone : OpError::kNotInsideTemporaryMm;
    if (inside && op.kind != OpKind::kTouch) return OpError::kInsideTemporaryMm;
  }
  switch (op.kind) {
    case OpKind::kSwitchMm:
    case OpKind::kFlushMmRange:
    case OpKind::kBatchAdd:
    case OpKind::kFlushBatchedPending:
    case OpKind::kUseGlobalAsid:
    case OpKind::kUseTemporaryMm:
    case OpKind::kDropMm:
      if (!guest_.alive(op.mm)) return OpError::kNoSuchMm;
      if (dropped_[op.mm] && op.kind != OpKind::kFlushMmRange) return OpError::kMmDropped;
      break;
    default: break;
  }
  switch (op.kind) {
    case OpKind::kEnableLam:
      if (!guest_.lam) return OpError::kNoLam;
      return truth_.uses(op.cpu) == kInitMm ? OpError::kRunsNoUser : OpError::kNone;
    case OpKind::kUseGlobalAsid:
      if (op.mm == kInitMm) return OpError::kNotForInitMm;
      return rules_.global_asid && guest_.invlpgb ? OpError::kNone : OpError::kNoGlobalAsids;
    case OpKind::kFlushMmRange: return op.stride_shift > 63 ? OpError::kStride : OpError::kNone;
    case OpKind::kBatchAdd:
      return policy_.pending.size() >= kMaxPendingRequests ? OpError::kTooManyPending
                                                           : OpError::kNone;
    case OpKind::kDropMm: return op.mm == kInitMm ? OpError::kNotForInitMm : OpError::kNone;
    case OpKind::kNewMm:
      return guest_.nr_alive() >= kMaxMms ? OpError::kTooManyMms : OpError::kNone;
    default: return OpError::kNone;
  }
}

OpError Machine::apply(const Op& op) {
  if (const OpError error = check(op); error != OpError::kNone) return error;
  const bool may_wait = op.kind == OpKind::kFlushMmRange || op.kind == OpKind::kBatchFlush ||
                        op.kind == OpKind::kFlushBatchedPending || op.kind == OpKind::kEnableLam;
  if (may_wait && may_wait_for_temporary_mm(op)) return run_or_refuse(op);
  run(op);
  assert(!policy_.waits_for);
  if (!dying_.empty()) free_dropped_mms();
  return OpError::kNone;
}

/// Whether a CPU inside a temporary mm is in the mask that the operation sends to: IPIs go to no
/// other CPU, whatever the rules.
bool Machine::may_wait_for_temporary_mm(const Op& op) const {
  if (nr_inside_temporary_mm_ == 0) return false;
  const auto& mask = op.kind == OpKind::kBatchFlush  ? batch_.cpumask
                     : op.kind == OpKind::kEnableLam ? guest_.mm(truth_.uses(op.cpu)).cpumask
                                                     : guest_.mm(op.mm).cpumask;
  const CpuMask sent_to = CpuMask::from_words(mask, guest_.nr_cpus);  // the batch's may be empty
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu)
    if (guest_.cpu_tlbstate[cpu].temporary_mm_prev && sent_to.test(cpu)) return true;
  return false;
}

/// Tries the operation unseen, takes it back, and runs it only when it waited for nobody.
OpError Machine::run_or_refuse(const Op& op) {
  before_.guest = guest_;
  before_.truth = truth_;
  before_.batch = batch_;
  before_.pending = policy_.pending;
  before_.violations = policy_.violations;
  before_.nr_violations = policy_.nr_violations;
  Observer* const observer = std::exchange(policy_.observer, nullptr);
  run(op);
  policy_.observer = observer;
  guest_ = *before_.guest;
  truth_ = *before_.truth;
  batch_ = before_.batch;
  policy_.pending = before_.pending;
  policy_.violations = before_.violations;
  policy_.nr_violations = before_.nr_violations;
  if (std::exchange(policy_.waits_for, std::nullopt)) return OpError::kIpiInsideTemporaryMm;
  run(op);
  if (!dying_.empty()) free_dropped_mms();
  return OpError::kNone;
}

/// The way to user mode and back: with page-table isolation that is where the user's half of a
/// PCID is flushed, filled and used.
void Machine::visit_user_mode(Cpu cpu) {
  const MmId mm = truth_.uses(cpu);
  if (guest_.pti && mm != kInitMm) {
    Kernel<SequentialPolicy> k{guest_, rules_, policy_};
    switch_to_user_cr3(k, cpu, guest_.mm(mm));
    policy_.report(check_p1(guest_, truth_, cpu));
    switch_to_kernel_cr3(k, cpu, guest_.mm(mm));
  }
  policy_.report(check_p1(guest_, truth_, cpu));
}

void Machine::run(const Op& op) {
  Kernel<SequentialPolicy> k{guest_, rules_, policy_};
  switch (op.kind) {
    case OpKind::kSwitchMm:
      truth_.set_uses(op.cpu, op.mm);
      switch_mm(k, op.cpu, op.mm);
      if (guest_.pti) visit_user_mode(op.cpu);
      break;
    case OpKind::kEnterLazy:
      truth_.set_uses(op.cpu, kInitMm);
      enter_lazy_tlb(k, op.cpu);
      break;
    case OpKind::kLeaveMm:
      truth_.set_uses(op.cpu, kInitMm);
      leave_mm(k, op.cpu);
      break;
    case OpKind::kUseTemporaryMm:
      ++nr_inside_temporary_mm_;
      used_before_temporary_[op.cpu] = truth_.uses(op.cpu);
      truth_.set_uses(op.cpu, op.mm);
      use_temporary_mm(k, op.cpu, op.mm);
      break;
    case OpKind::kUnuseTemporaryMm:
      --nr_inside_temporary_mm_;
      truth_.set_uses(op.cpu, used_before_temporary_[op.cpu]);
      unuse_temporary_mm(k, op.cpu);
      break;
    case OpKind::kFlushMmRange: {
      const AddressRange range = flushed_range(op.start, op.end, op.stride_shift);
      truth_.pte_change(op.mm, covered_range(range.start, range.end, op.stride_shift),
                        op.freed_tables, op.stride_shift);
      flush_tlb_mm_range(k, op.cpu, op.mm, op.start, op.end, op.stride_shift, op.freed_tables);
      break;
    }
    case OpKind::kBatchAdd: {
      FlushTlbInfo info;
      info.start = op.start & kPageMask;
      info.end = info.start + kPageSize;
      truth_.pte_change(op.mm, covered_range(info), false);
      set_tlb_ubc_flush_pending(k, op.cpu, batch_, op.mm, info);
      break;
    }
    case OpKind::kBatchFlush: arch_tlbbatch_flush(k, op.cpu, batch_); break;
    case OpKind::kFlushBatchedPending:
      flush_tlb_batched_pending(k, op.cpu, op.mm);
      policy_.pending_returned(op.mm);
      break;
    case OpKind::kNestedReclaim: nested_reclaim(rules_, batch_); break;
    case OpKind::kTick: guest_.jiffies += op.jiffies; break;
    case OpKind::kOffline:
      truth_.set_uses(op.cpu, kInitMm);
      cpu_offline(k, op.cpu);
      break;
    case OpKind::kOnline: cpu_online(k, op.cpu); break;
    case OpKind::kUseGlobalAsid: use_global_asid(k, op.cpu, op.mm); break;
    case OpKind::kEnableLam: enable_lam(k, op.cpu, truth_.uses(op.cpu)); break;
    case OpKind::kTouch: visit_user_mode(op.cpu); break;
    case OpKind::kNewMm:
      last_new_mm_ = guest_.new_mm();
      truth_.mm_created(last_new_mm_);
      dropped_.resize(guest_.nr_mm_slots());
      dropped_[last_new_mm_] = 0;
      break;
    case OpKind::kDropMm:
      dropped_[op.mm] = 1;
      dying_.push_back(op.mm);
      break;
  }
}

void Machine::free_dropped_mms() {
  const auto used = [&](MmId mm) {
    if (truth_.selected_by(mm).any()) return true;
    return nr_inside_temporary_mm_ != 0 &&
           std::any_of(guest_.cpu_tlbstate.begin(), guest_.cpu_tlbstate.end(),
                       [&](const CpuTlbState& tlb) { return tlb.temporary_mm_prev == mm; });
  };
  std::erase_if(dying_, [&](MmId mm) {
    if (used(mm)) return false;
    guest_.free_mm(mm);
    return true;
  });
}

}  // namespace hvtlb
