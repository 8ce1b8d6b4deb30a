// Which CPUs of a litmus may be exchanged, and from when on.
//
// Whoever chooses whom to reach walks through the CPUs in ascending order, so it does make a
// difference which of them is CPU 0. Once nobody has such a walk ahead, CPUs with equal programs
// may be exchanged: what is left (switches, handlers, answers to IPIs and hypercalls) names no CPU
// but its own.
#include <algorithm>
#include <functional>

#include "explore/guest_system.h"

namespace hvtlb::explore {

namespace {

bool treats_cpus_alike(OpKind kind) {
  switch (kind) {
    case OpKind::kSwitchMm:
    case OpKind::kEnterLazy:
    case OpKind::kLeaveMm:
    case OpKind::kUseTemporaryMm:
    case OpKind::kUnuseTemporaryMm: return true;
    default: return false;
  }
}

/// Operations that choose targets at one place, and are alike behind it.
bool chooses_once(OpKind kind) {
  return kind == OpKind::kFlushMmRange || kind == OpKind::kBatchFlush ||
         kind == OpKind::kFlushBatchedPending;
}

/// Whether two tasks would do the same; which CPU an operation names as its own does not count.
bool equal_programs(const std::vector<Op>& a, const std::vector<Op>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Op x, const Op& y) {
    x.cpu = y.cpu;
    return x == y;
  });
}

}  // namespace

bool treat_cpus_alike(std::span<const Op> ops) {
  return std::all_of(ops.begin(), ops.end(),
                     [](const Op& op) { return treats_cpus_alike(op.kind); });
}

void GuestSystem::find_orders() {
  for (const std::vector<Op>& program : litmus_.programs)
    for (const Op& op : program)
      if (!treats_cpus_alike(op.kind) && !chooses_once(op.kind) && op.kind != OpKind::kBatchAdd)
        return;
  if (guest_.invlpgb) return;  // a broadcast looks for stragglers when it is under way
  std::array<Cpu, kMaxExploredCpus> at = CpuOrder().array();
  const auto end = at.begin() + guest_.nr_cpus;
  while (std::next_permutation(at.begin(), end)) {
    bool alike = true;
    for (Cpu name = 0; name < guest_.nr_cpus; ++name)
      alike &= equal_programs(litmus_.programs[name], litmus_.programs[at[name]]);
    if (alike) orders_.emplace_back(at);
  }
}

bool GuestSystem::holds_from_here() const {
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
    const std::span<const Op> ahead = ahead_of(cpu, operation_[cpu]);
    const bool chosen =
        !ahead.empty() && chooses_once(ahead[0].kind) && !policy_.still_chooses(cpu);
    if (!treat_cpus_alike(chosen ? ahead.subspan(1) : ahead)) return false;
  }
  return true;
}

const u64* GuestSystem::renamed(const CpuOrder& order, const u64* word) const {
  for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
    const Cpu name = order.name_of(cpu);
    const auto within = [word](const auto& theirs, const auto& ours) -> const u64* {
      const auto* begin = reinterpret_cast<const u64*>(&theirs);
      const std::less<const u64*> before;
      if (before(word, begin) || !before(word, reinterpret_cast<const u64*>(&theirs + 1)))
        return nullptr;
      return reinterpret_cast<const u64*>(&ours) + (word - begin);
    };
    if (const u64* found =
            within(guest_.cpu_tlbstate_shared[cpu], guest_.cpu_tlbstate_shared[name]))
      return found;
    if (const u64* found = within(guest_.cpu_tlbstate[cpu], guest_.cpu_tlbstate[name]))
      return found;
    for (std::size_t at = 0; at < page_table_[cpu].size(); ++at)
      if (word == &page_table_[cpu][at] && at < page_table_[name].size())
        return &page_table_[name][at];
  }
  return word;
}

u64 GuestSystem::renamed(const CpuOrder& order, const u64* word, u64 value) const {
  bool is_mask = word == guest_.cpu_online_mask.data();
  for (MmId id = 0; id < guest_.nr_mm_slots(); ++id)
    is_mask |= word == guest_.mm(id).cpumask.data();
  return is_mask ? order.names_of(value) : value;
}

}  // namespace hvtlb::explore
