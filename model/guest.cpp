#include "model/guest.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace hvtlb {
namespace {

std::vector<u64> mask_words(const std::optional<CpuMask>& mask, const std::vector<u64>& otherwise,
                            u32 nr_cpus) {
  if (!mask) return otherwise;
  std::vector<u64> words(words_for(nr_cpus));
  mask->for_each([&](Cpu cpu) { words[cpu / 64] |= u64{1} << (cpu % 64); });
  return words;
}

std::vector<u64> all_cpus(u32 nr_cpus) {
  std::vector<u64> words(words_for(nr_cpus), ~u64{0});
  if (nr_cpus % 64 != 0) words.back() = (u64{1} << (nr_cpus % 64)) - 1;
  return words;
}

std::vector<u32> vp_is_cpu(u32 nr_cpus) {
  std::vector<u32> vps;
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) vps.push_back(cpu);
  return vps;
}

}  // namespace

Guest::Guest(const MachineShape& shape)
    : nr_cpus(shape.nr_cpus),
      pcid(shape.pcid),
      lam(shape.lam),
      invlpgb(shape.invlpgb),
      pti(shape.pti),
      hz(shape.hz),
      jiffies(shape.jiffies),
      cpu_tlbstate_shared(shape.nr_cpus),
      cpu_tlbstate(shape.nr_cpus),
      cpu_present_mask(mask_words(shape.present, all_cpus(shape.nr_cpus), shape.nr_cpus)),
      cpu_online_mask(mask_words(shape.online, cpu_present_mask, shape.nr_cpus)),
      vp_index(shape.vp_index.empty() ? vp_is_cpu(shape.nr_cpus) : shape.vp_index),
      hyperv(shape.hyperv),
      ex_processor_masks_recommended(shape.ex_processor_masks_recommended),
      hypercall_page(shape.hypercall_page),
      input_pages(shape.input_pages),
      input_pages_(shape.nr_cpus),
      scratch_(shape.nr_cpus) {
  assert(nr_cpus >= 1 && nr_cpus <= kMaxCpus);
  assert(vp_index.size() == nr_cpus);
  u32 highest = 0;
  for (u32 vp : vp_index)
    if (vp != kVpInvalid) highest = std::max(highest, vp);
  hv_max_vp_index = shape.hv_max_vp_index.value_or(highest);
  cpu_of_vp_.assign(std::min(highest, 64 * kMaxCpus) + 1, kVpInvalid);
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu)
    if (vp_index[cpu] < cpu_of_vp_.size()) cpu_of_vp_[vp_index[cpu]] = cpu;

  const MmId init = new_mm();
  assert(init == kInitMm);
  mms_[init].tlb_gen = 1;
  mms_[init].pgd = 0x1000;
  for (CpuTlbState& tlb : cpu_tlbstate) tlb.ctxs[0] = {mms_[init].ctx_id, 1};
}

MmId Guest::new_mm() {
  assert(nr_alive_ < kMaxMms);
  MmId id = 0;
  if (free_slots_.empty()) {
    id = static_cast<MmId>(mms_.size());
    mms_.emplace_back();
  } else {
    std::pop_heap(free_slots_.begin(), free_slots_.end(), std::greater<>());
    id = free_slots_.back();
    free_slots_.pop_back();
  }
  Mm& mm = mms_[id];
  mm = Mm{};
  mm.ctx_id = ++last_ctx_id_;
  mm.next_trim_cpumask = jiffies + hz;
  mm.pgd = u64{id} * 0x100000;
  mm.cpumask.assign(words_for(nr_cpus), 0);
  ++nr_alive_;
  return id;
}

void Guest::free_mm(MmId id) {
  assert(id != kInitMm && alive(id));
  mms_[id].ctx_id = 0;
  --nr_alive_;
  free_slots_.push_back(id);
  std::push_heap(free_slots_.begin(), free_slots_.end(), std::greater<>());
}

}  // namespace hvtlb
