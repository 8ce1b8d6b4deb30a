#include "trace/replay_world.h"

#include <algorithm>

#include "flush/flush_tlb.h"

namespace hvtlb {

ReplayWorld::ReplayWorld(std::string era_name, const Rules& era_rules, const MachineShape& shape)
    : name(std::move(era_name)),
      rules(era_rules),
      guest_(shape),
      truth_(shape.nr_cpus),
      policy_(guest_, truth_, host_),
      recorder_(kernel(), truth_, [this](const FlushRecord& record) { last_flush_ = record; }) {
  policy_.observer = &recorder_;
}

/// After every operation: count what was violated, free what nobody holds.
void ReplayWorld::settle() {
  for (Violation& violation : policy_.violations) {
    const u32 at = static_cast<u32>(violation.property) - static_cast<u32>(Property::kP1);
    if (at < kNrJudged) ++violations_[at];
    if (!first_violation_) first_violation_ = std::move(violation);
  }
  policy_.violations.clear();
  std::erase_if(dying_, [&](MmId mm) {
    if (truth_.selected_by(mm).any()) return false;
    guest_.free_mm(mm);
    return true;
  });
}

MmId ReplayWorld::new_mm() {
  const MmId mm = guest_.new_mm();
  truth_.mm_created(mm);
  return mm;
}

void ReplayWorld::end_mm(MmId mm) {
  dying_.push_back(mm);
  settle();
}

void ReplayWorld::switch_mm(Cpu cpu, MmId mm) {
  auto k = kernel();
  truth_.set_uses(cpu, mm);
  hvtlb::switch_mm(k, cpu, mm);
  settle();
}

void ReplayWorld::enter_lazy(Cpu cpu) {
  auto k = kernel();
  truth_.set_uses(cpu, kInitMm);
  enter_lazy_tlb(k, cpu);
}

void ReplayWorld::leave_mm(Cpu cpu) {
  auto k = kernel();
  truth_.set_uses(cpu, kInitMm);
  hvtlb::leave_mm(k, cpu);
  settle();
}

bool ReplayWorld::others_in_mask(Cpu cpu, MmId mm) const {
  const std::vector<u64>& words = guest_.mm(mm).cpumask;
  for (u32 at = 0; at < words.size(); ++at)
    if ((words[at] & ~(at == cpu / kBitsPerWord ? bit_of(cpu) : 0)) != 0) return true;
  return false;
}

const FlushRecord& ReplayWorld::flush_mm_range(Cpu cpu, MmId mm, const FlushRangeEvent& request) {
  auto k = kernel();
  const u8 shift = request.stride_shift;
  const AddressRange range = flushed_range(request.start, request.end, shift);
  truth_.pte_change(mm, covered_range(range.start, range.end, shift), request.freed_tables, shift);
  flush_tlb_mm_range(k, cpu, mm, request.start, request.end, shift, request.freed_tables);
  settle();
  return last_flush_;
}

const FlushRecord& ReplayWorld::flush_batch(Cpu cpu, std::span<const u64> mask) {
  auto k = kernel();
  FlushTlbInfo info;
  info.initiating_cpu = cpu;
  flush_tlb_multi(k, cpu, mask, info);
  policy_.flush_returned(cpu, info);
  settle();
  return last_flush_;
}

}  // namespace hvtlb
