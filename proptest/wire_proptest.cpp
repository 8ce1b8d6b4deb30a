// The bytes of a hypercall, read back by hand: the VPs are the targets, the ranges cover the
// request.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

#include "flush/decision.h"
#include "model/eras.h"
#include "proptest/case.h"

namespace hvtlb::proptest {
namespace {

struct Named {
  bool all = false;
  std::set<u32> vps;
  std::vector<std::pair<u64, u64>> ranges;  ///< first byte and one past the last
  bool everything = true;
};

/// Reads the words as the specification lays them out. Nothing here is shared with the builder.
Named read_back(u64 control, std::span<const u64> words) {
  Named named;
  const u64 code = control & 0xffff;
  const u64 banks = control >> 17 & 0x3ff;
  const u64 reps = control >> 32 & 0xfff;
  std::size_t list = 3;
  if (code == 0x13 || code == 0x14) {
    std::size_t at = 4;
    for (u32 bank = 0; bank < 64; ++bank) {
      if ((words[3] >> bank & 1) == 0) continue;
      for (u32 bit = 0; bit < 64; ++bit)
        if ((words[at] >> bit & 1) != 0) named.vps.insert(bank * 64 + bit);
      ++at;
    }
    RC_ASSERT(at == 4 + banks);
    list = at;
  } else {
    RC_ASSERT(banks == 0u);
    named.all = (words[1] & 1) != 0;
    for (u32 bit = 0; bit < 64; ++bit)
      if ((words[2] >> bit & 1) != 0) named.vps.insert(bit);
  }
  if (code == 0x03 || code == 0x14) {
    named.everything = false;
    RC_ASSERT(reps >= 1u);
    for (u64 rep = 0; rep < reps; ++rep) {
      const u64 entry = words[list + rep];
      named.ranges.emplace_back(entry & ~u64{0xfff},
                                (entry & ~u64{0xfff}) + ((entry & 0xfff) + 1) * 4096);
    }
  } else {
    RC_ASSERT(reps == 0u);
  }
  return named;
}

RC_GTEST_PROP(Wire, TheVpsReadBackAreTheTargets, ()) {
  const Case c = *cases();
  Guest guest(c.shape);
  const MmId mm = guest.new_mm();
  const MmId other = guest.new_mm();
  const auto states =
      *rc::gen::container<std::vector<int>>(c.shape.nr_cpus, rc::gen::inRange(0, 8));
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) {
    guest.cpu_tlbstate_shared[cpu] = {u64{states[cpu] < 5 ? mm : other}, u64{states[cpu] % 3 == 0}};
    if (states[cpu] < 7 && guest.present(cpu)) guest.mm(mm).cpumask[cpu / 64] |= u64{1} << cpu % 64;
  }
  FlushTlbInfo info;
  info.mm = mm;
  info.has_mm = *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
  info.freed_tables = *rc::gen::weightedElement<bool>({{1, true}, {3, false}});
  info.initiating_cpu = *rc::gen::inRange(0u, guest.nr_cpus);
  const u64 pages =
      *rc::gen::weightedOneOf<u64>({{3, rc::gen::inRange<u64>(0, 40)},
                                    {1, rc::gen::inRange<u64>(4090, 4100)},
                                    {1, rc::gen::inRange<u64>(4096 * 500, 4096 * 520)}});
  info.start = 0x7f0000000000;
  info.end = info.start + pages * 4096;
  if (*rc::gen::weightedElement<bool>({{1, true}, {4, false}})) {
    info.start = 0;
    info.end = kTlbFlushAll;
  }
  DecisionPolicy policy;
  const Rules& rules = c.era().rules;
  Kernel<DecisionPolicy> k{guest, rules, policy};
  hyperv_flush_tlb_multi(k, info.initiating_cpu, guest.mm(mm).cpumask, info);
  RC_ASSERT(policy.irqs_off == 0u);
  RC_CLASSIFY(policy.native, "native");
  RC_CLASSIFY(policy.called && !policy.native, "hypercall");
  if (!policy.called) return;

  const Named named = read_back(policy.control, policy.input);
  const u64 code = policy.control & 0xffff;
  if (guest.hv_max_vp_index >= 4096 && code >= 0x13) {  // zoo Z14, and only here
    RC_ASSERT(named.vps.empty());
    return;
  }
  RC_CLASSIFY(named.all, "all processors");
  const CpuMask mask = CpuMask::from_words(guest.mm(mm).cpumask, guest.nr_cpus);
  std::set<u32> expected;
  mask.for_each([&](Cpu cpu) {
    const bool lazy = guest.cpu_tlbstate_shared[cpu].is_lazy != 0;
    const bool loaded = guest.cpu_tlbstate_shared[cpu].loaded_mm == mm;
    bool wanted = true;
    if (!info.freed_tables && rules.hv_targets == HypervTargets::kNotLazy) wanted = !lazy;
    if (!info.freed_tables && rules.hv_targets == HypervTargets::kNativePredicate)
      wanted = !lazy && (loaded || !info.has_mm);
    if (wanted) expected.insert(guest.vp_index[cpu]);
  });
  if (named.all)
    mask.for_each([&](Cpu cpu) { RC_ASSERT(guest.present(cpu)); });
  else
    RC_ASSERT(named.vps == expected);

  // The ranges cover the request without a gap; an empty one names a single page.
  if (named.everything) return;
  u64 at = info.start;
  for (const auto& [start, end] : named.ranges) {
    RC_ASSERT(start == at);
    at = end;
  }
  RC_ASSERT(at == std::max(info.end, info.start + 4096));
}

}  // namespace
}  // namespace hvtlb::proptest
