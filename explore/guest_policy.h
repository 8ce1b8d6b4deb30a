// The memory policy of an explored guest: every access of a routine is a step of the engine.
#pragma once

#include <array>
#include <bit>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explore/engine.h"
#include "explore/measured.h"
#include "explore/sender_knowledge.h"
#include "explore/wire_judge.h"
#include "model/host_port.h"
#include "model/truth.h"

namespace hvtlb::explore {

class GuestPolicy {
 public:
  GuestPolicy(Guest& guest, Truth& truth, HypercallHost& host)
      : guest_(guest), truth_(truth), host_(host), wire_(guest) {}

  HostScope host_scope = HostScope::kWholeTlb;
  bool host_returns_early = false;
  u32 judged_cpus = ~u32{0};      ///< a call's effect on another one's TLB makes no difference
  Measured measured;              ///< in all executions so far
  std::string* events = nullptr;  ///< where to write down what happens beyond the steps

  void attach(Engine& engine) {
    engine_ = &engine;
    sender_.attach(engine);
  }
  void reset() {
    for (auto& requests : pending_) requests.clear();
    for (auto& requests : relied_) requests.clear();
    for (auto& broadcasts : broadcasts_) broadcasts.clear();
    calls_reach_ = broadcasts_reach_ = {};
    sends_natively_ = {};
    newest_ = {};
    nr_added_ = {};
    broken_.reset();
  }
  /// The CPU's program goes on with another operation.
  void begin_operation(Cpu cpu) {
    newest_[cpu] = {};
    sender_.begins(cpu);
  }
  /// Whether its operation has yet to look for CPUs to reach, if it does.
  bool still_chooses(Cpu cpu) const { return sender_.still_chooses(cpu); }
  /// What the steps themselves have shown to be wrong.
  const std::optional<Violation>& broken() const { return broken_; }

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
  u64 cmpxchg(Cpu cpu, u64& word, u64 expected, u64 value, Site site = Site::here()) {
    return engine_->cmpxchg(cpu, word, expected, value, site);
  }
  u64 wait_while(Cpu cpu, const u64& word, u64 value, Site site = Site::here()) {
    return engine_->wait_while(cpu, word, value, site);
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

  void stop_machine(Cpu cpu) { engine_->step(cpu, StepKind::kStopMachine, {"stop_machine", 0}); }

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
    sender_.calls(cpu, control, input);
    engine_->step(cpu, StepKind::kHypercall, site, control);
    HostEffect& effect = effects_[cpu];
    effect.clear();
    host_.call(control, input, effect);
    const CpuMask named = named_by(effect);
    if (!broken_ && !engine_->leaving())
      broken_ = wire_.judge(cpu, request_[cpu], control, input, named);
    measure(needless_in(guest_, cpu, named, request_[cpu], effect.all_vps));
    u32 targets = 0;
    named.for_each([&](Cpu target) { targets |= 1u << target; });
    targets &= judged_cpus;
    if (!engine_->leaving()) calls_reach_[cpu] = targets;
    sender_.called(cpu, effect);
    engine_->await_host(cpu, targets, host_returns_early, site);
    if (hv::result_status(effect.result) == hv::kStatusSuccess) round_done(cpu, request_[cpu]);
    sender_.done(cpu, effect.result);
    return effect.result;
  }
  void invlpgb(Cpu cpu, const Invlpgb& what, Site site = Site::here()) {
    engine_->step(cpu, StepKind::kInvlpgb, site, what.pcid);
    if (engine_->leaving()) return;
    broadcasts_[cpu].push_back(what);
    broadcasts_reach_[cpu] = (1u << guest_.nr_cpus) - 1;
    engine_->begin_effects(cpu, broadcasts_reach_[cpu]);
  }
  void tlbsync(Cpu cpu, Site site = Site::here()) {
    engine_->step(cpu, StepKind::kTlbsync, site);
    broadcasts_[cpu].clear();
  }
  /// A hypercall or broadcast of `caller` takes effect on `target`. A CPU with both under way (an
  /// mm that moves to a global ASID under a builder that knows nothing of it) lets them take effect
  /// together: that is the later of the two moments, and both only remove.
  void effect(Cpu target, Cpu caller) {
    const u32 bit = 1u << target;
    if ((calls_reach_[caller] & bit) != 0) {
      const HostEffect& effect = effects_[caller];
      truth_.host_flush(target, host_scope, effect.address_space, effect.everything, effect.ranges);
    }
    if ((broadcasts_reach_[caller] & bit) != 0)
      for (const Invlpgb& each : broadcasts_[caller])
        truth_.broadcast(target, each.every_pcid, each.pcid, each.range);
    calls_reach_[caller] &= ~bit;
    broadcasts_reach_[caller] &= ~bit;
  }
  std::string effect_text(Cpu target, Cpu caller) const {
    const bool call = (calls_reach_[caller] >> target & 1) != 0;
    return call ? fmt::format("the host flushes its TLB for the call of CPU {}", caller)
                : fmt::format("the broadcast of CPU {} takes effect", caller);
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
    const std::optional<FlushTlbInfo> request = std::exchange(sends_natively_[self], std::nullopt);
    engine_->send_ipis(self, cpus, with_irqs_off, site);
    if (request && !request->trim_cpumask)
      measure(needless_in(guest_, self, targets, *request, false));
    sender_.sent(self, cpus, request && request->trim_cpumask);
    engine_->await_ipis(self, cpus, with_irqs_off, site);
    if (request && (cpus & ~(1u << self)) != 0) round_done(self, *request);
    sender_.done(self);
  }

  // Trace points
  void flush_requested(Cpu cpu, const FlushTlbInfo& info) {
    if (events != nullptr) *events += fmt::format(" (generation {})", info.new_tlb_gen);
    truth_.flush_requested(info.mm, info.new_tlb_gen, covered_range(info), info.freed_tables);
    newest_[cpu] = {info.mm, info.new_tlb_gen};
  }
  void batch_requested(Cpu cpu, const FlushTlbInfo& info) {
    flush_requested(cpu, info);
    pending_[cpu].push_back({info.mm, info.new_tlb_gen});
  }
  void flush_targets(Cpu cpu, std::span<const u64>, const FlushTlbInfo& info) {
    request_[cpu] = info;
    sender_.chooses(cpu);
  }
  void flush_local(Cpu cpu, const FlushTlbInfo&) { sender_.chose_itself(cpu); }
  void flush_sent_natively(Cpu cpu, const CpuMask& targets, const FlushTlbInfo& info) {
    sends_natively_[cpu] = info;
    sender_.chose(cpu, targets, info.trim_cpumask);
  }
  void tables_freed(Cpu, const FlushTlbInfo& info) {
    truth_.tables_freed(info.mm, info.new_tlb_gen);
  }
  void read_behind(Cpu cpu, const char* array) {
    if (!broken_) broken_ = read_behind_of(cpu, array);
  }
  u64 asks(Cpu cpu) { return engine_->knowledge(cpu); }
  void answered(Cpu cpu, u64 asked, u64 value, Site site = Site::here()) {
    engine_->knows_since(cpu, asked, kAnsweredInLine + static_cast<u32>(site.line), value);
  }
  void flush_returned(Cpu cpu, const FlushTlbInfo& info) {
    if (events != nullptr) *events += "; the flush RETURNS";
    if (!broken_) broken_ = incomplete(cpu, info);
    for (const BufferedStore& store : engine_->memory().buffer(cpu))
      if (store.note != 0 && !broken_) broken_ = change_unseen(cpu, info);
    if (info.has_mm) return truth_.flush_returned(info.mm, info.new_tlb_gen);
    for (const Request& each : pending_[cpu]) truth_.flush_returned(each.mm, each.tlb_gen);
    pending_[cpu].clear();
    nr_added_[cpu] = 0;
  }

  /// The page-table change of the CPU's operation has arrived: late, if its flush is under way.
  void change_arrived(Cpu cpu) {
    const Request& request = newest_[cpu];
    if (request.mm != kInitMm) truth_.request_covers_newest(request.mm, request.tlb_gen);
  }

  // Deferred flushes. Whoever relies on them (`flush_tlb_batched_pending()`) finds what was added
  // before: the page-table lock is handed over when the adder's stores have arrived.
  void batch_added(Cpu cpu) { nr_added_[cpu] = pending_[cpu].size(); }
  void relies_on_batches(Cpu cpu, MmId mm) {
    for (Cpu adder = 0; adder < guest_.nr_cpus; ++adder)
      for (std::size_t at = 0; at < pending_[adder].size(); ++at)
        if (pending_[adder][at].mm == mm && at < nr_added_[adder] && engine_->memory().empty(adder))
          relied_[cpu].push_back(pending_[adder][at]);
  }
  void batches_returned(Cpu cpu) {
    for (const Request& each : relied_[cpu]) truth_.flush_returned(each.mm, each.tlb_gen);
    relied_[cpu].clear();
  }
  void append_state(std::vector<u64>& state, const CpuOrder& order = {}) const {
    for (const Cpu cpu : order.all().first(guest_.nr_cpus))
      state.push_back(order.names_of(calls_reach_[cpu]) | order.names_of(broadcasts_reach_[cpu])
                                                              << 8);
    for (const Cpu cpu : order.all().first(guest_.nr_cpus))
      for (const auto* requests : {&pending_[cpu], &relied_[cpu]}) {
        state.push_back(requests->size());
        for (const Request& each : *requests) state.insert(state.end(), {each.mm, each.tlb_gen});
      }
  }

 protected:
  static constexpr u64 kAnsweredInLine = u64{1} << 32;

  /// The present CPUs that a call names.
  CpuMask named_by(const HostEffect& effect) const {
    CpuMask named(guest_.nr_cpus);
    for (Cpu cpu = 0; cpu < guest_.nr_cpus && effect.all_vps; ++cpu)
      if (guest_.present(cpu)) named.set(cpu);
    for (const u32 vp : effect.vps)
      if (const u32 cpu = guest_.cpu_of_vp(vp); cpu != kVpInvalid) named.set(cpu);
    return named;
  }

  void measure(const Measured& now) {
    if (!engine_->leaving()) measured.raise(now);
  }

  /// All that the request has asked for is done.
  void round_done(Cpu cpu, const FlushTlbInfo& request) {
    if (request.trim_cpumask) measure(left_in_mask_of(guest_, cpu, request.mm));
  }

  /// P8: what returns has taken effect everywhere.
  std::optional<Violation> incomplete(Cpu cpu, const FlushTlbInfo& info) const {
    const u32 left = calls_reach_[cpu] | broadcasts_reach_[cpu];
    if (left == 0) return std::nullopt;
    const u32 elsewhere = left & ~(1u << cpu);
    const Cpu first = static_cast<Cpu>(std::countr_zero(elsewhere != 0 ? elsewhere : left));
    return Violation{Property::kP8, first, info.mm, info.start,
                     fmt::format("the flush of CPU {} has returned, and it has not taken effect "
                                 "here",
                                 cpu)};
  }

  static Violation change_unseen(Cpu cpu, const FlushTlbInfo& info) {
    return {Property::kP1, cpu, info.mm, info.start,
            "the flush has returned, and the page-table change is still in the store buffer"};
  }

  struct Request {
    MmId mm = kInitMm;
    u64 tlb_gen = 0;
  };

  Engine* engine_ = nullptr;
  SenderKnowledge sender_;
  Guest& guest_;
  Truth& truth_;
  HypercallHost& host_;
  WireJudge wire_;
  std::array<FlushTlbInfo, kMaxExploredCpus> request_;  // whose targets are chosen, by CPU
  std::array<std::optional<FlushTlbInfo>, kMaxExploredCpus> sends_natively_;  // as IPIs, by CPU
  std::array<HostEffect, kMaxExploredCpus> effects_;
  std::array<u32, kMaxExploredCpus> calls_reach_{};  // by caller: CPUs still without the effect
  std::array<std::vector<Invlpgb>, kMaxExploredCpus> broadcasts_;
  std::array<u32, kMaxExploredCpus> broadcasts_reach_{};
  std::array<Request, kMaxExploredCpus> newest_;                // by CPU
  std::array<std::vector<Request>, kMaxExploredCpus> pending_;  // of batches, by CPU
  std::array<std::size_t, kMaxExploredCpus> nr_added_{};        // of them, by operations that ended
  std::array<std::vector<Request>, kMaxExploredCpus> relied_;   // by whoever relies on them
  std::optional<Violation> broken_;
};

static_assert(MemoryPolicy<GuestPolicy>);

}  // namespace hvtlb::explore
