// The fast walks over a filtered mask against the obvious ones: word by word against CPU by CPU,
// groups of CPUs against the predicate asked for each.
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "flush/decision.h"
#include "flush/targets.h"
#include "flush/vpset.h"
#include "model/eras.h"

namespace hvtlb {
namespace {

constexpr u32 kRounds = 3000;
constexpr u32 kNrBanks = 64;

class FastPath : public testing::Test {
 protected:
  u32 below(u32 end) { return static_cast<u32>(random_() % end); }

  /// A word as masks have them: none, all, a run, a few, half.
  u64 word() {
    const u64 any = u64{random_()} << 32 | random_();
    switch (below(5)) {
      case 0: return 0;
      case 1: return ~u64{0};
      case 2: return (~u64{0} >> below(64)) << below(64);
      case 3: return u64{1} << below(64) | u64{1} << below(64);
      default: return any;
    }
  }

  std::vector<u64> mask(u32 nr_cpus) {
    std::vector<u64> words(words_for(nr_cpus));
    for (u64& each : words) each = word();
    if (nr_cpus % 64 != 0) words.back() &= (u64{1} << (nr_cpus % 64)) - 1;
    return words;
  }

  /// Identity, whole banks exchanged, two VPs exchanged, a permutation; some without an index.
  std::vector<u32> vp_numbering(u32 nr_cpus) {
    std::vector<u32> vps(nr_cpus);
    std::iota(vps.begin(), vps.end(), 0u);
    const u32 kind = below(4);
    if (kind == 1)
      for (u32& vp : vps) vp ^= 64;
    if (kind == 2) std::swap(vps[below(nr_cpus)], vps[below(nr_cpus)]);
    if (kind == 3) std::shuffle(vps.begin(), vps.end(), random_);
    if (below(4) == 0) vps[below(nr_cpus)] = kVpInvalid;
    return vps;
  }

  u32 size() { return below(2) == 0 ? 1 + below(130) : 1 + below(1000); }

  std::mt19937 random_{1};
};

TEST_F(FastPath, ProcessorMaskByWordIsTheOneByCpu) {
  u32 outcomes[4] = {};
  for (u32 round = 0; round < kRounds; ++round) {
    const u32 nr_cpus = size();
    const std::vector<u32> vps = vp_numbering(nr_cpus);
    std::vector<u64> words = mask(nr_cpus);
    if (below(2) == 0) std::fill(words.begin() + 1, words.end(), 0);
    const PrivateTargets targets{words, nr_cpus};
    u64 by_cpu = ~u64{0};
    u64 by_word = 0;
    const hv::PlainSet outcome = hv::fill_processor_mask_by_cpu(vps, targets, by_cpu);
    ASSERT_EQ(hv::fill_processor_mask_by_word(vps, targets, by_word), outcome) << round;
    ASSERT_EQ(by_word, by_cpu) << round;
    ++outcomes[static_cast<unsigned>(outcome)];
  }
  for (u32 count : outcomes) EXPECT_GT(count, 10u);
}

TEST_F(FastPath, BanksByWordAreTheOnesByCpu) {
  u32 invalid = 0;
  for (u32 round = 0; round < kRounds; ++round) {
    const u32 nr_cpus = size();
    const std::vector<u32> vps = vp_numbering(nr_cpus);
    const std::vector<u64> words = mask(nr_cpus);
    const PrivateTargets targets{words, nr_cpus};
    std::vector<u64> by_cpu(kNrBanks);
    std::vector<u64> by_word(kNrBanks);
    const int nr_banks = hv::fill_banks_by_cpu(vps, targets, by_cpu.data());
    ASSERT_EQ(hv::fill_banks_by_word(vps, targets, by_word.data()), nr_banks) << round;
    ASSERT_EQ(by_word, by_cpu) << round;
    invalid += nr_banks == hv::kVpSetInvalid;
  }
  EXPECT_GT(invalid, 10u);
}

TEST_F(FastPath, FilteredMaskIsWhatThePredicateSaysOfEveryMember) {
  const u64 loaded[] = {kInitMm, 1, 2, kLoadedMmSwitching};
  for (u32 round = 0; round < kRounds; ++round) {
    const Era& era = eras()[below(static_cast<u32>(eras().size()))];
    MachineShape shape;
    shape.nr_cpus = size();
    Guest guest(shape);
    const u32 usual = below(2) == 0 ? 8 : 1;  // how many run the mm for one that does not
    for (CpuTlbStateShared& shared : guest.cpu_tlbstate_shared) {
      shared.loaded_mm = below(usual) != 0 ? 1 : loaded[below(4)];
      shared.is_lazy = below(usual) == 0 && below(2) == 0;
    }
    FlushTlbInfo info;
    info.mm = 1;
    info.has_mm = below(4) != 0;
    info.trim_cpumask = below(4) == 0;
    const Cpu self = below(shape.nr_cpus);
    DecisionPolicy policy;
    Kernel<DecisionPolicy> k{guest, era.rules, policy};

    const std::vector<u64> words = mask(shape.nr_cpus);
    std::vector<u64> expected(words.size());
    bool remote = false;
    for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) {
      if ((words[cpu / 64] & bit_of(cpu)) == 0) continue;
      if (!should_flush_tlb(k, self, cpu, info)) continue;
      expected[cpu / 64] |= bit_of(cpu);
      remote |= cpu != self;
    }
    std::vector<u64> copy(words.size(), ~u64{0});
    ASSERT_EQ(filter_targets(k, self, words, info, false, copy), remote) << round;
    ASSERT_EQ(copy, expected) << round;
  }
}

TEST_F(FastPath, RunsAreFound) {
  EXPECT_TRUE(is_one_run(1));
  EXPECT_TRUE(is_one_run(~u64{0}));
  EXPECT_TRUE(is_one_run(u64{3} << 62));
  EXPECT_FALSE(is_one_run(5));
  EXPECT_FALSE(is_one_run(u64{1} << 63 | 1));
}

}  // namespace
}  // namespace hvtlb
