#include "zoo/kvm_preempted.h"

namespace hvtlb::zoo {
namespace {

constexpr u64 kVcpuPreempted = 1;  // KVM_VCPU_PREEMPTED
constexpr u64 kVcpuFlushTlb = 2;   // KVM_VCPU_FLUSH_TLB
constexpr u32 kPageTableChange = 1;

}  // namespace

using explore::StepKind;

void KvmPreempted::reset() {
  preempted_ = page_table_ = tlb_gen_ = 0;
  changed_ = returned_ = false;
  holds_old_ = true;
}

void KvmPreempted::flush() {
  engine_->store(0, page_table_, 1, {"set_pte", 0}, kPageTableChange);
  engine_->locked(0, tlb_gen_, RmwOp::kAdd, 1, {"inc_mm_tlb_gen", 0});
  const Site site{"kvm_flush_tlb_multi", 0};
  const u64 state = engine_->load(0, preempted_, site);
  const bool left_to_entry =
      (state & kVcpuPreempted) != 0 &&
      engine_->cmpxchg(0, preempted_, state, state | kVcpuFlushTlb, site) == state;
  if (!left_to_entry) {
    const Site native{"native_flush_tlb_multi", 0};
    const auto handler = [this](Cpu) { flush_vp(); };
    engine_->send_ipis(0, 0b10, handler, native);
    engine_->await_ipis(0, 0b10, handler, native);
  }
  engine_->step(0, StepKind::kFence, {"flush_tlb_mm_range returns", 0});
  returned_ = !engine_->leaving();
}

/// While the VP does not run it takes no interrupt.
void KvmPreempted::preempt_and_enter() {
  engine_->irqs_off(1, {"kvm_arch_vcpu_put", 0});
  engine_->store(1, preempted_, kVcpuPreempted, {"kvm_arch_vcpu_put", 0});
  const Site entry{"record_steal_time", 0};
  if (reads_ == EntryReads::kExchange) {
    if ((engine_->locked(1, preempted_, RmwOp::kAnd, 0, entry) & kVcpuFlushTlb) != 0) flush_vp();
  } else {
    if ((engine_->load(1, preempted_, entry) & kVcpuFlushTlb) != 0) flush_vp();
    engine_->store(1, preempted_, 0, entry);
  }
  engine_->irqs_on(1, {"vcpu_enter_guest", 0});
}

void KvmPreempted::append_state(std::vector<u64>& state) const {
  state.insert(state.end(),
               {preempted_, page_table_, tlb_gen_, u64{changed_}, u64{holds_old_}, u64{returned_}});
}

std::optional<Violation> KvmPreempted::check(u32) const {
  if (!returned_ || !holds_old_ || engine_->has_irqs_off(1)) return std::nullopt;
  return Violation{Property::kP1, 1, 1, 0,
                   "the flush has returned, and the VP runs with the old translation"};
}

std::string KvmPreempted::name_of(const u64* word) const {
  if (word == &preempted_) return "vp1.preempted";
  return word == &tlb_gen_ ? "tlb_gen" : "the page table";
}

}  // namespace hvtlb::zoo
