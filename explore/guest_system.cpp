#include "explore/guest_system.h"

#include <cassert>
#include <fmt/format.h>
#include <xxhash.h>

#include "model/hotplug.h"
#include "model/lam.h"
#include "model/temporary_mm.h"
#include "scenario/machine.h"

namespace hvtlb::explore {
namespace {

/// What a note of a store says: the operation of its CPU, counted from 1.
constexpr u32 note_of(std::size_t operation) {
  return static_cast<u32>(operation) + 1;
}

Machine& prepared(Machine& machine, const Litmus& litmus) {
  for (const Op& op : litmus.before) {
    [[maybe_unused]] const OpError error = machine.apply(op);
    assert(error == OpError::kNone);
  }
  return machine;
}

}  // namespace

bool explorable(OpKind kind) {
  switch (kind) {
    case OpKind::kSwitchMm:
    case OpKind::kEnterLazy:
    case OpKind::kLeaveMm:
    case OpKind::kUseTemporaryMm:
    case OpKind::kUnuseTemporaryMm:
    case OpKind::kFlushMmRange:
    case OpKind::kBatchAdd:
    case OpKind::kBatchFlush:
    case OpKind::kFlushBatchedPending:
    case OpKind::kUseGlobalAsid:
    case OpKind::kOffline:
    case OpKind::kOnline:
    case OpKind::kEnableLam: return true;
    default: return false;
  }
}

GuestSystem::GuestSystem(const Litmus& litmus)
    : litmus_(litmus),
      initial_guest_(litmus.machine),
      initial_truth_(litmus.machine.nr_cpus),
      guest_(litmus.machine),
      truth_(litmus.machine.nr_cpus),
      policy_(guest_, truth_, host_),
      kernel_{guest_, litmus.rules, policy_},
      batches_(litmus.machine.nr_cpus),
      used_before_(litmus.machine.nr_cpus, kInitMm),
      operation_(litmus.machine.nr_cpus) {
  Machine machine(litmus.machine, litmus.rules);
  prepared(machine, litmus);
  initial_guest_ = machine.guest();
  initial_truth_ = machine.truth();
  guest_ = initial_guest_;
  policy_.host_scope = litmus.host_scope;
  policy_.host_returns_early = litmus.host_returns_early;
  for (const std::vector<Op>& program : litmus.programs)
    for (const Op& op : program) stops_machine_ |= op.kind == OpKind::kOffline;
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
    batches_[cpu].cpumask.reserve(guest_.cpu_online_mask.size());
    page_table_.emplace_back(litmus.programs[cpu].size());
    names_[&guest_.cpu_tlbstate_shared[cpu].loaded_mm] = fmt::format("cpu{}.loaded_mm", cpu);
    names_[&guest_.cpu_tlbstate_shared[cpu].is_lazy] = fmt::format("cpu{}.is_lazy", cpu);
    holds_mm_[&guest_.cpu_tlbstate_shared[cpu].loaded_mm] = true;
    names_[&guest_.cpu_tlbstate[cpu].active_mm] = fmt::format("cpu{}.active_mm", cpu);
    holds_mm_[&guest_.cpu_tlbstate[cpu].active_mm] = true;
    names_[&guest_.cpu_tlbstate[cpu].seen_asid] = fmt::format("cpu{}.loaded_mm_asid", cpu);
    for (u64& entry : page_table_[cpu]) names_[&entry] = "the page table";
  }
  find_orders();
  names_[guest_.cpu_online_mask.data()] = "cpu_online_mask";
  names_[&guest_.global_asid_lock] = "global_asid_lock";
  names_[&guest_.last_global_asid] = "last_global_asid";
  for (MmId id = 0; id < guest_.nr_mm_slots(); ++id) {
    Mm& mm = guest_.mm(id);
    names_[&mm.tlb_gen] = fmt::format("{}.tlb_gen", name_of_mm(id));
    names_[&mm.next_trim_cpumask] = fmt::format("{}.next_trim_cpumask", name_of_mm(id));
    names_[&mm.global_asid] = fmt::format("{}.global_asid", name_of_mm(id));
    names_[&mm.asid_transition] = fmt::format("{}.asid_transition", name_of_mm(id));
    names_[&mm.tlb_flush_batched] = fmt::format("{}.tlb_flush_batched", name_of_mm(id));
    names_[&mm.lam_cr3_mask] = fmt::format("{}.lam_cr3_mask", name_of_mm(id));
    if (!mm.cpumask.empty()) names_[mm.cpumask.data()] = fmt::format("{}.cpumask", name_of_mm(id));
  }
}

void GuestSystem::attach(Engine& engine) {
  engine_ = &engine;
  policy_.attach(engine);
}

void GuestSystem::reset() {
  guest_ = initial_guest_;
  truth_ = initial_truth_;
  policy_.reset();
  enables_lam_ = 0;
  for (TlbBatch& batch : batches_) {
    batch.cpumask.clear();  // keeps its place
    batch.flush_required = false;
  }
  for (auto& entries : page_table_) std::fill(entries.begin(), entries.end(), 0);
}

void GuestSystem::run(Cpu cpu) {
  const std::vector<Op>& program = litmus_.programs[cpu];
  for (std::size_t at = 0; at < program.size(); ++at) {
    engine_->forget(cpu, at + left_behind(cpu, at));
    operation_[cpu] = at;
    policy_.begin_operation(cpu);
    perform(cpu, program[at], note_of(at));
  }
  operation_[cpu] = program.size();
  engine_->forget(cpu, program.size());
}

/// What a call left in the input page is all that a routine leaves behind it, for the next call.
u64 GuestSystem::left_behind(Cpu cpu, std::size_t at) const {
  const std::span<const u64> page = guest_.left_in_input_page(cpu);
  if (page.empty() || engine_->leaving() || treat_cpus_alike(ahead_of(cpu, at))) return 0;
  return XXH3_64bits(page.data(), page.size_bytes());
}

void GuestSystem::change_page_table(Cpu cpu, u32 note) {
  policy_.pte_store(cpu, page_table_[cpu][note - 1], 1, note, {"set_pte", 0});
}

void GuestSystem::perform(Cpu cpu, const Op& op, u32 note) {
  switch (op.kind) {
    case OpKind::kSwitchMm:
      switch_mm(kernel_, cpu, op.mm);
      truth_.set_uses(cpu, op.mm);  // with interrupts off its code did not run
      break;
    case OpKind::kEnterLazy: {
      IrqsOff irqs_off(policy_, cpu);
      truth_.set_uses(cpu, kInitMm);
      enter_lazy_tlb(kernel_, cpu);
      break;
    }
    case OpKind::kLeaveMm: {
      IrqsOff irqs_off(policy_, cpu);
      truth_.set_uses(cpu, kInitMm);
      leave_mm(kernel_, cpu);
      break;
    }
    case OpKind::kUseTemporaryMm:
      used_before_[cpu] = truth_.uses(cpu);
      truth_.set_uses(cpu, op.mm);
      use_temporary_mm(kernel_, cpu, op.mm);
      break;
    case OpKind::kUnuseTemporaryMm:
      truth_.set_uses(cpu, used_before_[cpu]);
      unuse_temporary_mm(kernel_, cpu);
      break;
    case OpKind::kFlushMmRange:
      change_page_table(cpu, note);
      flush_tlb_mm_range(kernel_, cpu, op.mm, op.start, op.end, op.stride_shift, op.freed_tables);
      break;
    case OpKind::kBatchAdd: {
      change_page_table(cpu, note);
      FlushTlbInfo info;
      info.start = op.start & kPageMask;
      info.end = info.start + kPageSize;
      set_tlb_ubc_flush_pending(kernel_, cpu, batches_[cpu], op.mm, info);
      policy_.batch_added(cpu);
      break;
    }
    case OpKind::kBatchFlush: arch_tlbbatch_flush(kernel_, cpu, batches_[cpu]); break;
    case OpKind::kFlushBatchedPending:
      policy_.fence(cpu, {"pte_offset_map_lock", 0});
      policy_.relies_on_batches(cpu, op.mm);
      flush_tlb_batched_pending(kernel_, cpu, op.mm);
      policy_.batches_returned(cpu);
      break;
    case OpKind::kOffline:
      cpu_offline(kernel_, cpu);
      truth_.set_uses(cpu, kInitMm);
      break;
    case OpKind::kOnline: cpu_online(kernel_, cpu); break;
    case OpKind::kUseGlobalAsid: use_global_asid(kernel_, cpu, op.mm); break;
    case OpKind::kEnableLam:
      enables_lam_ |= 1u << cpu;
      enable_lam(kernel_, cpu, truth_.uses(cpu));
      enables_lam_ &= ~(1u << cpu);
      break;
    default: assert(false);
  }
}

void GuestSystem::arrived(Cpu cpu, u32 note) {
  const Op& op = litmus_.programs[cpu][note - 1];
  if (op.kind == OpKind::kBatchAdd) {
    const u64 start = op.start & kPageMask;
    truth_.pte_change(op.mm, {start, start + kPageSize}, false);
  } else {
    const AddressRange range = flushed_range(op.start, op.end, op.stride_shift);
    truth_.pte_change(op.mm, covered_range(range.start, range.end, op.stride_shift),
                      op.freed_tables, op.stride_shift);
  }
  if (note == note_of(operation_[cpu])) policy_.change_arrived(cpu);
}

std::optional<Violation> GuestSystem::check(u32 settled) const {
  if (policy_.broken()) return policy_.broken();
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
    if (!guest_.online(cpu)) continue;
    if (auto found = check_p2(guest_, truth_, cpu)) return found;
    if (engine_->has_irqs_off(cpu)) continue;
    if (auto found = check_p1(guest_, truth_, cpu)) return found;
    if ((settled >> cpu & 1) == 0) continue;  // its own stores are not in memory yet
    if (auto found = check_p4(guest_, truth_, cpu)) return found;
    if (auto found = check_p3(guest_, truth_, cpu)) return found;
    if (auto found = check_lazy(guest_, truth_, cpu)) return found;
    if ((enables_lam_ >> cpu & 1) != 0) continue;  // the task goes on when all IPIs have come back
    if (auto found = check_cr3(guest_, truth_, cpu)) return found;
  }
  return std::nullopt;
}

void GuestSystem::append_state_in(const CpuOrder& order, std::vector<u64>& state) const {
  const std::span<const Cpu> cpus = order.all().first(guest_.nr_cpus);
  const auto append_mask = [&](std::span<const u64> mask) {  // at most 64 CPUs: one word, or none
    for (const u64 word : mask) state.push_back(order.names_of(word));
  };
  for (const Cpu cpu : cpus) {
    const CpuTlbStateShared& shared = guest_.cpu_tlbstate_shared[cpu];
    const CpuTlbState& tlb = guest_.cpu_tlbstate[cpu];
    state.insert(state.end(),
                 {shared.loaded_mm, shared.is_lazy, tlb.loaded_mm_asid, tlb.next_asid,
                  tlb.invalidate_other, tlb.irqs_off, tlb.user_pcid_flush_mask, tlb.active_mm,
                  tlb.seen_asid, tlb.temporary_mm_prev.value_or(~MmId{0})});
    for (const TlbContext& ctx : tlb.ctxs) state.insert(state.end(), {ctx.ctx_id, ctx.tlb_gen});
    state.push_back(used_before_[cpu]);
    state.push_back(batches_[cpu].flush_required);
    append_mask(batches_[cpu].cpumask);
    // Until its targets are chosen a routine's own knowledge has it.
    const bool chosen = !policy_.still_chooses(cpu);
    state.push_back(chosen ? left_behind(cpu, operation_[cpu] + 1) : 0);
  }
  for (MmId id = 0; id < guest_.nr_mm_slots(); ++id) {
    const Mm& mm = guest_.mm(id);
    state.insert(state.end(), {mm.tlb_gen, mm.next_trim_cpumask, mm.global_asid, mm.asid_transition,
                               mm.lam_cr3_mask, mm.tlb_flush_batched, u64{mm.temporary}});
    append_mask(mm.cpumask);
  }
  append_mask(guest_.cpu_online_mask);
  state.insert(state.end(), {guest_.global_asid_lock, guest_.last_global_asid});
  truth_.append_state(state, cpus);
  policy_.append_state(state, order);
}

std::string GuestSystem::name_of_mm(u64 id) const {
  if (id == kInitMm) return "init_mm";
  return id < litmus_.mm_names.size() ? litmus_.mm_names[id] : fmt::format("mm{}", id);
}

std::string GuestSystem::take_events() {
  return std::exchange(events_, {});
}

std::string GuestSystem::show_cr3(u64 cr3) const {
  u64 mm = kInitMm;
  for (MmId id = 0; id < guest_.nr_mm_slots(); ++id)
    if (guest_.mm(id).pgd == (cr3 & kCr3AddrMask)) mm = id;
  return fmt::format("{}, PCID {}, {}", name_of_mm(mm), cr3 & kCr3PcidMask,
                     (cr3 & kCr3NoFlush) != 0 ? "keeping what it holds" : "emptied");
}

std::string GuestSystem::name_of(const u64* word) const {
  const auto found = names_.find(word);
  return found == names_.end() ? "memory" : found->second;
}

std::string GuestSystem::show(const u64* word, u64 value) const {
  if (holds_mm_.contains(word))
    return value == kLoadedMmSwitching ? "SWITCHING" : name_of_mm(value);
  const bool bits = name_of(word).ends_with("mask") || value > 0xffff;
  return bits ? fmt::format("{:#x}", value) : std::to_string(value);
}

}  // namespace hvtlb::explore
