#include "bench/flush_case.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace hvtlb::bench {
namespace {

/// The same on every machine and in every run.
constexpr u32 kSeed = 1;

/// So many CPUs' states are gone through before one comes back. A current branch predictor learns
/// 16384 of them by heart.
constexpr u32 kLazyCpus = 131072;

MachineShape machine(u32 nr_cpus, VpNumbering vps) {
  MachineShape shape;
  shape.nr_cpus = nr_cpus;
  shape.vp_index.resize(nr_cpus);
  std::iota(shape.vp_index.begin(), shape.vp_index.end(), 0u);
  if (vps == VpNumbering::kScattered)
    std::shuffle(shape.vp_index.begin(), shape.vp_index.end(), std::mt19937(kSeed));
  return shape;
}

bool is_member(Cpu cpu, u32 nr_cpus, MaskShape shape) {
  switch (shape) {
    case MaskShape::kFull:
    case MaskShape::kHalfLazy: return cpu + 1 < nr_cpus;
    case MaskShape::kSparse: return cpu % 8 == 0;
    case MaskShape::kAllProcessors: return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(MaskShape shape) {
  static constexpr std::string_view kNames[] = {"full", "half-lazy", "sparse", "all-processors"};
  return kNames[static_cast<unsigned>(shape)];
}

std::string_view name_of(VpNumbering vps) {
  return vps == VpNumbering::kIdentity ? "identity" : "scattered";
}

std::string case_name(u32 nr_cpus, MaskShape shape, VpNumbering vps) {
  return fmt::format("{}/{}/{}", nr_cpus, name_of(shape), name_of(vps));
}

FlushCase::FlushCase(u32 nr_cpus, MaskShape shape, VpNumbering vps)
    : guest(machine(nr_cpus, vps)), mm(guest.new_mm()) {
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) {
    if (!is_member(cpu, nr_cpus, shape)) continue;
    guest.mm(mm).cpumask[cpu / kBitsPerWord] |= u64{1} << (cpu % kBitsPerWord);
    guest.cpu_tlbstate_shared[cpu].loaded_mm = mm;
  }
  if (shape == MaskShape::kHalfLazy) {
    std::mt19937 random(kSeed);
    states_.assign(std::max(kLazyCpus / nr_cpus, 2u), guest.cpu_tlbstate_shared);
    for (auto& state : states_)
      for (Cpu cpu = 1; cpu < nr_cpus; ++cpu) state[cpu].is_lazy = random() % 2;
    guest.cpu_tlbstate_shared = states_.front();
  }
  info.mm = mm;
  info.has_mm = true;
  info.initiating_cpu = 0;
  info.start = 0x7f0000000000;
  info.end = info.start + kPageSize;
  info.new_tlb_gen = 1;
}

}  // namespace hvtlb::bench
