#include "explore/environment_system.h"

#include <fmt/format.h>

#include "scenario/machine.h"

namespace hvtlb::explore {
namespace {

constexpr u32 kPageChanged = 1;  // the note of the store
constexpr AddressRange kPage{0x1000, 0x2000};

MachineShape shape_of(const EnvironmentCase& which) {
  MachineShape shape;
  shape.nr_cpus = which.layout == Layout::kSpareCpu ? 4 : 3;
  shape.vp_index = {0, which.layout == Layout::kHighTarget ? 70u : 1u,
                    which.layout == Layout::kHighOther ? 71u : 2u};
  if (which.layout == Layout::kSpareCpu) shape.vp_index.push_back(3);
  shape.hyperv = which.hyperv;
  return shape;
}

Machine& prepared(Machine& machine, Initiator initiator) {
  Cpu cpu = kTargetCpu;
  const auto apply = [&](OpKind kind, MmId mm = kInitMm) {
    machine.apply({.kind = kind, .cpu = cpu, .mm = mm});
  };
  apply(OpKind::kNewMm);
  apply(OpKind::kNewMm);
  // So that the slots are given out: which one the mm gets makes no difference.
  const auto use_others = [&] {
    apply(OpKind::kSwitchMm, kOtherMm);
    apply(OpKind::kEnterLazy);
    apply(OpKind::kLeaveMm);
  };
  use_others();
  cpu = kInitiatorCpu;
  use_others();
  if (initiator == Initiator::kRuns) apply(OpKind::kSwitchMm, kFlushedMm);
  return machine;
}

}  // namespace

EnvironmentSystem::EnvironmentSystem(const EnvironmentCase& which)
    : which_(which),
      initial_guest_(shape_of(which)),
      initial_truth_(initial_guest_.nr_cpus),
      guest_(shape_of(which)),
      truth_(initial_guest_.nr_cpus),
      policy_(guest_, truth_, host_),
      kernel_{guest_, which_.rules, policy_} {
  batch_.cpumask.resize(1);
  policy_.batch_mask = batch_.cpumask.data();
  policy_.initiator_elsewhere = which.initiator == Initiator::kElsewhere;
  policy_.judged_cpus = 1u << (which.alone ? kInitiatorCpu : kTargetCpu);
  Machine machine(shape_of(which), which.rules);
  prepared(machine, which.initiator);
  initial_guest_ = machine.guest();
  initial_truth_ = machine.truth();
  initial_guest_.cpu_tlbstate_shared[kOtherCpu].loaded_mm = kFlushedMm;  // lazily or not
  // The initiator's own slot is far behind, so that it always flushes all of itself: what it
  // flushes of itself concerns nobody else.
  if (!which.alone) initial_guest_.mm(kFlushedMm).tlb_gen += 2;
  guest_ = initial_guest_;
  name_words();
}

void EnvironmentSystem::attach(Engine& engine) {
  engine_ = &engine;
  policy_.attach(engine);
}

void EnvironmentSystem::reset() {
  guest_ = initial_guest_;
  truth_ = initial_truth_;
  policy_.reset();
  std::fill(batch_.cpumask.begin(), batch_.cpumask.end(), 0);
  batch_.flush_required = false;
  page_table_ = 0;
  flush_begun_ = flush_ended_ = false;
}

void EnvironmentSystem::run(Cpu cpu) {
  if (cpu == kTargetCpu && which_.alone) return;
  if (cpu == kTargetCpu || which_.alone) return live(cpu);
  engine_->forget(cpu, 0);
  flush(cpu);
}

/// A CPU's life: it runs one mm, then another, rests, leaves, for ever.
void EnvironmentSystem::live(Cpu cpu) {
  while (!engine_->leaving()) {
    engine_->forget(cpu, 0);
    policy_.begin_operation(cpu);
    if (which_.alone && !flush_begun_) {
      const u32 now =
          engine_->choose(cpu, {.kind = StepKind::kChoose, .site = {"schedule", 0}, .outcomes = 2});
      engine_->note(cpu, now);
      if (now != 0) {
        flush(cpu);
        continue;
      }
    }
    operate(cpu);
  }
}

void EnvironmentSystem::operate(Cpu cpu) {
  const u32 next =
      engine_->choose(cpu, {.kind = StepKind::kChoose, .site = {"schedule", 0}, .outcomes = 4});
  if (!engine_->leaving()) engine_->forget(cpu, next + 1);
  switch (next) {
    case 0: return run_mm(cpu, kOtherMm);
    case 1: return run_mm(cpu, kFlushedMm);
    case 2: return rest(cpu);
    default: return leave(cpu);
  }
}

void EnvironmentSystem::run_mm(Cpu cpu, MmId mm) {
  switch_mm(kernel_, cpu, mm);
  truth_.set_uses(cpu, mm);
}

/// Becomes lazy. A CPU that is already may run so many other mms meanwhile that the mm loses its
/// ASID slot, if it has not got it loaded; the next mm that takes the slot empties it.
void EnvironmentSystem::rest(Cpu cpu) {
  if (truth_.uses(cpu) != kInitMm) {
    IrqsOff irqs_off(policy_, cpu);
    truth_.set_uses(cpu, kInitMm);
    enter_lazy_tlb(kernel_, cpu);
    return;
  }
  if (guest_.cpu_tlbstate_shared[cpu].loaded_mm != kInitMm) return;
  CpuTlbState& tlb = guest_.cpu_tlbstate[cpu];
  for (u64 asid = 0; asid < kNrDynAsids; ++asid) {
    if (tlb.ctxs[asid].ctx_id != guest_.mm(kFlushedMm).ctx_id) continue;
    tlb.ctxs[asid] = {};
    tlb.next_asid = asid;
  }
}

void EnvironmentSystem::leave(Cpu cpu) {
  IrqsOff irqs_off(policy_, cpu);
  truth_.set_uses(cpu, kInitMm);
  leave_mm(kernel_, cpu);
}

void EnvironmentSystem::flush(Cpu cpu) {
  policy_.pte_store(cpu, page_table_, 1, kPageChanged, {"set_pte", 0});
  flush_begun_ = true;
  const bool everything = which_.flush == FlushShape::kSpace;
  const AddressRange range = everything ? AddressRange{0, kTlbFlushAll} : kPage;
  if (which_.flush == FlushShape::kBatch) {
    FlushTlbInfo info;
    info.start = kPage.start;
    info.end = kPage.end;
    set_tlb_ubc_flush_pending(kernel_, cpu, batch_, kFlushedMm, info);
    arch_tlbbatch_flush(kernel_, cpu, batch_);
  } else {
    flush_tlb_mm_range(kernel_, cpu, kFlushedMm, range.start, range.end, kPageShift,
                       which_.flush == FlushShape::kTables);
  }
  if (engine_->leaving()) return;
  flush_ended_ = true;
  engine_->forget(cpu, 1);
}

void EnvironmentSystem::arrived(Cpu cpu, u32) {
  const AddressRange range =
      which_.flush == FlushShape::kSpace ? AddressRange{0, kTlbFlushAll} : kPage;
  truth_.pte_change(kFlushedMm, range, which_.flush == FlushShape::kTables);
  policy_.change_arrived(cpu);
}

u32 EnvironmentSystem::foreign_ipis(Cpu cpu) const {
  if ((judged() >> cpu & 1) == 0) return 0;
  // What the initiator made no further CPU has made.
  return 1u << kNewGeneration | 1u << kWithoutMm | u32{!policy_.newest_is_own()} << cpu;
}

void EnvironmentSystem::handle_foreign(Cpu cpu, u32 number) {
  policy_.begin_handler(cpu);
  engine_->note(cpu, number);
  FlushTlbInfo info;
  info.initiating_cpu = kOtherCpu;
  if (number != kWithoutMm) {
    info.mm = kFlushedMm;
    info.has_mm = true;
    info.start = info.end = kPage.start;  // of pages that do not matter: nothing is removed
    info.new_tlb_gen =
        number == kNewGeneration ? policy_.make_generation() : guest_.mm(kFlushedMm).tlb_gen;
    policy_.remember(cpu, info.new_tlb_gen);
  }
  ++guest_.cpu_tlbstate[cpu].irqs_off;
  flush_tlb_func(kernel_, cpu, info);
  --guest_.cpu_tlbstate[cpu].irqs_off;
}

bool EnvironmentSystem::is_private(Cpu cpu, const u64* word, bool undisturbed) const {
  const Mm& flushed = guest_.mm(kFlushedMm);
  if (word == &flushed.tlb_gen || word == flushed.cpumask.data()) return false;
  for (Cpu other = 0; other < kOtherCpu; ++other) {
    const CpuTlbStateShared& shared = guest_.cpu_tlbstate_shared[other];
    if (word == &shared.loaded_mm || word == &shared.is_lazy) return other == cpu && undisturbed;
  }
  return undisturbed || word == &flushed.next_trim_cpumask ||
         word == guest_.cpu_online_mask.data() ||
         word == &guest_.cpu_tlbstate_shared[kOtherCpu].loaded_mm ||
         word == &guest_.cpu_tlbstate_shared[kOtherCpu].is_lazy;
}

std::optional<u64> EnvironmentSystem::knowledge_of(Cpu cpu) const {
  if (cpu != kInitiatorCpu || which_.alone) return std::nullopt;
  return policy_.knowledge().digest();
}

void EnvironmentSystem::append_state(std::vector<u64>& state) const {
  const u64 flushed_ctx = guest_.mm(kFlushedMm).ctx_id;
  generations_.clear();
  generations_.push_back(guest_.mm(kFlushedMm).tlb_gen);
  for (const Cpu cpu : {kInitiatorCpu, kTargetCpu}) {
    if (cpu == kInitiatorCpu && initiator_is_done()) continue;
    const CpuTlbStateShared& shared = guest_.cpu_tlbstate_shared[cpu];
    const CpuTlbState& tlb = guest_.cpu_tlbstate[cpu];
    state.insert(state.end(), {shared.loaded_mm, shared.is_lazy, tlb.irqs_off, tlb.active_mm});
    if ((judged() >> cpu & 1) == 0) continue;
    state.insert(state.end(), {tlb.loaded_mm_asid, tlb.next_asid});
    for (const TlbContext& ctx : tlb.ctxs) {
      state.insert(state.end(), {ctx.ctx_id, ctx.ctx_id == flushed_ctx ? 0 : ctx.tlb_gen});
      if (ctx.ctx_id == flushed_ctx) generations_.push_back(ctx.tlb_gen);
    }
    for (const bool handler : {false, true}) {
      if (handler && !engine_->handling(cpu)) continue;
      const std::vector<u64>& read = policy_.read(cpu, handler);
      state.push_back(read.size());
      generations_.insert(generations_.end(), read.begin(), read.end());
    }
  }
  // Of the initiator's bit nobody else takes notice.
  state.push_back(guest_.mm(kFlushedMm).cpumask[0] & ~u64{initiator_is_done()});
  state.push_back(guest_.mm(kOtherMm).cpumask[0]);
  state.insert(state.end(), {u64{flush_begun_} << 1 | u64{flush_ended_},
                             guest_.mm(kOtherMm).tlb_gen, u64{policy_.newest_is_own()},
                             guest_.mm(kFlushedMm).tlb_flush_batched, batch_.flush_required});
  for (const u64 word : batch_.cpumask) state.push_back(word);
  if (policy_.made() != 0 && !flush_ended_) generations_.push_back(policy_.made());
  // Generations count by their order, and by whether one is the next to another.
  std::vector<u64> sorted = generations_;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<u64> ranks(sorted.size());
  for (std::size_t at = 1; at < sorted.size(); ++at)
    ranks[at] = ranks[at - 1] + (sorted[at] == sorted[at - 1] + 1 ? 1 : 2);
  for (const u64 each : generations_)
    state.push_back(ranks[static_cast<std::size_t>(
        std::lower_bound(sorted.begin(), sorted.end(), each) - sorted.begin())]);
  truth_.append_state_of(kFlushedMm, judged(), state);
  policy_.append_state(state);
}

std::optional<Violation> EnvironmentSystem::check(u32 settled) const {
  if (policy_.broken()) return policy_.broken();
  for (const Cpu cpu : {kInitiatorCpu, kTargetCpu}) {
    if ((judged() >> cpu & 1) == 0) continue;
    if (auto found = check_p2(guest_, truth_, cpu)) return found;
    if (engine_->has_irqs_off(cpu)) continue;
    if (auto found = check_p1(guest_, truth_, cpu)) return found;
    if ((settled >> cpu & 1) == 0) continue;  // its own stores are not in memory yet
    if (auto found = check_p4(guest_, truth_, cpu)) return found;
  }
  return std::nullopt;
}

}  // namespace hvtlb::explore
