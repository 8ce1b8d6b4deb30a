#include "model/sequential.h"

namespace hvtlb {

u64 SequentialPolicy::hypercall(Cpu cpu, u64 control, std::span<const u64> input) {
  effect_.clear();
  host_.call(control, input, effect_);
  const auto flush = [&](Cpu target) {
    truth_.host_flush(target, host_scope, effect_.address_space, effect_.everything,
                      effect_.ranges);
  };
  if (effect_.all_vps) {
    for (Cpu target = 0; target < guest_.nr_cpus; ++target)
      if (guest_.present(target)) flush(target);  // the host knows VPs that the guest does not
  } else {
    for (u32 vp : effect_.vps)
      if (const u32 target = guest_.cpu_of_vp(vp); target != kVpInvalid) flush(target);
  }
  if (observer != nullptr) observer->called(cpu, control, input, effect_);
  return effect_.result;
}

void SequentialPolicy::flush_returned(Cpu cpu, const FlushTlbInfo& info) {
  if (info.has_mm) {
    truth_.flush_returned(info.mm, info.new_tlb_gen);
    check_mm(info.mm);
  } else {
    for (const Pending& each : pending)
      if (guest_.mm(each.mm).ctx_id == each.ctx_id) truth_.flush_returned(each.mm, each.tlb_gen);
    MmId checked = kInitMm;
    for (const Pending& each : pending) {
      if (each.mm == checked || guest_.mm(each.mm).ctx_id != each.ctx_id) continue;
      checked = each.mm;
      check_mm(each.mm);
    }
    pending.clear();
  }
  if (observer != nullptr) observer->returned(cpu, info);
}

void SequentialPolicy::pending_returned(MmId mm) {
  for (const Pending& each : pending)
    if (each.mm == mm && guest_.mm(mm).ctx_id == each.ctx_id)
      truth_.flush_returned(mm, each.tlb_gen);
  check_mm(mm);
}

void SequentialPolicy::check_mm(MmId mm) {
  if (mm == kInitMm) return;
  truth_.selected_by(mm).for_each([&](Cpu cpu) {
    report(check_p2(guest_, truth_, cpu));
    report(check_p1(guest_, truth_, cpu));
  });
}

}  // namespace hvtlb
