// The memory policy of an explored guest: every access of a routine is a step of the engine.
#pragma once

#include <array>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "explore/engine.h"
#include "model/host_port.h"
#include "model/truth.h"

namespace hvtlb::explore {

class GuestPolicy {
 public:
  GuestPolicy(Guest& guest, Truth& truth, HypercallHost& host)
      : guest_(guest), truth_(truth), host_(host) {}

  HostScope host_scope = HostScope::kWholeTlb;
  bool host_returns_early = false;
  std::string* events = nullptr;  ///< where to write down what happens beyond the steps

  void attach(Engine& engine) { engine_ = &engine; }
  void reset() {
    for (auto& requests : pending_) requests.clear();
  }

  // Shared memory
  u64 load(Cpu cpu, const u64& word, Site site = Site::here()) {
    return engine_->load(cpu, word, site);
  }
  void store(Cpu cpu, u64& word, u64 value, Site site = Site::here()) {
    engine_->store(cpu, word, value, site);
  }
  u64 locked(Cpu cpu, u64& word, RmwOp op, u64 value, Site site = Site::here()) {
    return engine_->locked(cpu, word, op, value, site);
  }
  void fence(Cpu cpu, Site site = Site::here()) { engine_->step(cpu, StepKind::kFence, site); }
  /// A page-table entry changes; `note` says which when it has arrived.
  void pte_store(Cpu cpu, u64& word, u64 value, u32 note, Site site = Site::here()) {
    engine_->store(cpu, word, value, site, note);
  }

  // Interrupts
  void irq_save(Cpu cpu) {
    engine_->irqs_off(cpu, {"local_irq_save", 0});
    ++guest_.cpu_tlbstate[cpu].irqs_off;
  }
  void irq_restore(Cpu cpu) {
    engine_->irqs_on(cpu, {"local_irq_restore", 0});
    --guest_.cpu_tlbstate[cpu].irqs_off;
  }

  // Hardware
  void write_cr3(Cpu cpu, u64 cr3, Site site = Site::here()) {
    engine_->step(cpu, StepKind::kWriteCr3, site, cr3);
    truth_.write_cr3(cpu, cr3);
  }
  void invlpg(Cpu cpu, u64 va, u8 page_shift, Site site = Site::here()) {
    engine_->step(cpu, StepKind::kInvlpg, site, va);
    truth_.invlpg(cpu, va, page_shift);
  }
  u64 hypercall(Cpu cpu, u64 control, std::span<const u64> input, Site site = Site::here()) {
    engine_->step(cpu, StepKind::kHypercall, site, control);
    HostEffect& effect = effects_[cpu];
    effect.clear();
    host_.call(control, input, effect);
    u32 targets = 0;
    if (effect.all_vps)
      for (Cpu target = 0; target < guest_.nr_cpus; ++target)
        targets |= u32{guest_.present(target)} << target;
    else
      for (const u32 vp : effect.vps)
        if (const u32 target = guest_.cpu_of_vp(vp); target != kVpInvalid) targets |= 1u << target;
    engine_->await_host(cpu, targets, host_returns_early, site);
    return effect.result;
  }
  void host_effect(Cpu target, Cpu caller) {
    const HostEffect& effect = effects_[caller];
    truth_.host_flush(target, host_scope, effect.address_space, effect.everything, effect.ranges);
  }

  template <class Handler>
  void on_each_cpu(Cpu self, const CpuMask& targets, Handler handler, Site site = Site::here()) {
    u32 cpus = 0;
    targets.for_each([&](Cpu cpu) { cpus |= 1u << cpu; });
    const auto with_irqs_off = [this, handler](Cpu cpu) {
      ++guest_.cpu_tlbstate[cpu].irqs_off;
      handler(cpu);
      --guest_.cpu_tlbstate[cpu].irqs_off;
    };
    engine_->run_on(self, cpus, with_irqs_off, site);
  }

  // Trace points
  void flush_requested(Cpu, const FlushTlbInfo& info) {
    if (events != nullptr) *events += fmt::format(" (generation {})", info.new_tlb_gen);
    truth_.flush_requested(info.mm, info.new_tlb_gen, covered_range(info), info.freed_tables);
  }
  void batch_requested(Cpu cpu, const FlushTlbInfo& info) {
    flush_requested(cpu, info);
    pending_[cpu].push_back({info.mm, info.new_tlb_gen});
  }
  void flush_targets(Cpu, std::span<const u64>, const FlushTlbInfo&) {}
  void flush_local(Cpu, const FlushTlbInfo&) {}
  void flush_sent_natively(Cpu, const CpuMask&, const FlushTlbInfo&) {}
  void flush_returned(Cpu cpu, const FlushTlbInfo& info) {
    if (events != nullptr) *events += "; the flush RETURNS";
    if (info.has_mm) return truth_.flush_returned(info.mm, info.new_tlb_gen);
    for (const Request& each : pending_[cpu]) truth_.flush_returned(each.mm, each.tlb_gen);
    pending_[cpu].clear();
  }

 private:
  struct Request {
    MmId mm;
    u64 tlb_gen;
  };

  Engine* engine_ = nullptr;
  Guest& guest_;
  Truth& truth_;
  HypercallHost& host_;
  std::array<HostEffect, kMaxExploredCpus> effects_;
  std::array<std::vector<Request>, kMaxExploredCpus> pending_;  // of batches, by CPU
};

static_assert(MemoryPolicy<GuestPolicy>);

}  // namespace hvtlb::explore
