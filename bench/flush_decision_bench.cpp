// One flush decision with the encoded call, and beside it the least that any such decision must do:
// a bare scan of the mask's words with the predicate and a scatter of the VPs.
#include <benchmark/benchmark.h>
#include <bit>
#include <vector>

#include "bench/flush_case.h"
#include "bench/ratio_table.h"
#include "flush/decision.h"
#include "model/eras.h"

namespace hvtlb::bench {
namespace {

/// `flush_tlb_multi()` of the era: targets, all-processors test, plain or EX, set, list, control
/// word.
void decision(benchmark::State& state, const Rules& rules, u32 nr_cpus, MaskShape shape,
              VpNumbering vps) {
  FlushCase c(nr_cpus, shape, vps);
  DecisionPolicy policy;
  Kernel<DecisionPolicy> k{c.guest, rules, policy};
  for (auto _ : state) {
    c.next_state();
    benchmark::ClobberMemory();
    flush_tlb_multi(k, 0, c.guest.mm(c.mm).cpumask, c.info);
    benchmark::DoNotOptimize(policy.control);
    benchmark::ClobberMemory();
  }
  if (!policy.called || policy.native) state.SkipWithError("no hypercall was made");
}

/// The yardstick: what cannot be left out. Nothing is encoded, not even are the banks cleared. It
/// comes with a branch a CPU and without, which is faster where the predictor has no clue; the
/// table takes the better one.
template <bool kBranches>
void scan(benchmark::State& state, u32 nr_cpus, MaskShape shape, VpNumbering vps) {
  FlushCase c(nr_cpus, shape, vps);
  std::vector<u64> bank_words(kMaxCpus / kBitsPerWord);
  u64* const banks = bank_words.data();
  const u64* const mask = c.guest.mm(c.mm).cpumask.data();
  const u32* const vp_index = c.guest.vp_index.data();
  const u32 nr_words = words_for(nr_cpus);
  const u64 mm = c.mm;
  for (auto _ : state) {
    c.next_state();
    benchmark::ClobberMemory();
    const CpuTlbStateShared* const shared = c.guest.cpu_tlbstate_shared.data();
    for (u32 at = 0; at < nr_words; ++at) {
      for (u64 word = mask[at]; word != 0; word &= word - 1) {
        const u32 cpu = at * kBitsPerWord + static_cast<u32>(std::countr_zero(word));
        bool target = true;
        if constexpr (kBranches) {
          if (shared[cpu].loaded_mm != mm || shared[cpu].is_lazy != 0) continue;
        } else {
          target = ((shared[cpu].loaded_mm ^ mm) | shared[cpu].is_lazy) == 0;
        }
        const u32 vp = vp_index[cpu];
        banks[vp / kBitsPerWord] |= u64{target} << (vp % kBitsPerWord);
      }
    }
    benchmark::DoNotOptimize(banks);
    benchmark::ClobberMemory();
  }
}

const bool kRegistered = [] {
  for (u32 nr_cpus : kCpuCounts) {
    for (MaskShape shape : kMaskShapes) {
      for (VpNumbering vps : kVpNumberings) {
        const std::string name = case_name(nr_cpus, shape, vps);
        benchmark::RegisterBenchmark(("scan/" + name).c_str(), scan<true>, nr_cpus, shape, vps);
        benchmark::RegisterBenchmark(("scan-branchless/" + name).c_str(), scan<false>, nr_cpus,
                                     shape, vps);
        for (std::string_view era_name : kMeasuredEras) {
          const Era* era = find_era(era_name);
          benchmark::RegisterBenchmark(("decision/" + std::string(era_name) + "/" + name).c_str(),
                                       decision, era->rules, nr_cpus, shape, vps);
        }
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace hvtlb::bench
