// Random machines. What the builder is decided by is common: few CPUs, 63 to 66 of them, VP numbers
// round 64 and at the end of the 64 banks, unknown VP indices, CPUs that are not present.
#include <algorithm>

#include "proptest/case.h"

namespace hvtlb::proptest {
namespace {

constexpr u32 kMostVps = 64 * 64;

u32 vp_of(u32 numbering, u32 odd_one, Cpu cpu, u32 nr_cpus) {
  switch (numbering) {
    case 0: return 60 + cpu;
    case 1: return cpu * 31 % 4093;
    case 2: return nr_cpus - 1 - cpu;
    case 3: return cpu == odd_one ? kVpInvalid : cpu;
    case 4: return cpu == odd_one ? kVpInvalid : 64 + cpu;
    case 5: return kMostVps - nr_cpus + cpu;
    case 6: return 64 + cpu;
    case 7: return cpu == odd_one ? 200 : cpu;
    default: return cpu;
  }
}

MachineShape shape_of(u32 nr_cpus, u32 bits, u32 numbering, u32 odd_one) {
  MachineShape shape;
  shape.nr_cpus = nr_cpus;
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu)
    shape.vp_index.push_back(vp_of(numbering, odd_one, cpu, nr_cpus));
  if (bits % 8 == 0) shape.hv_max_vp_index = kMostVps;  // zoo Z14
  if (bits % 8 == 1) shape.hv_max_vp_index = kMostVps - 1;
  shape.pcid = bits / 8 % 8 != 0;
  shape.pti = bits / 64 % 4 == 0;
  shape.lam = bits / 64 % 4 == 1;
  shape.hz = bits / 256 % 4 == 0 ? 1 : 250;
  shape.ex_processor_masks_recommended = bits / 1024 % 8 != 0;
  if (bits / 8192 % 4 == 0 && nr_cpus > 1) {
    shape.present = CpuMask(nr_cpus);
    shape.present->set_all();
    shape.present->reset((odd_one + 1) % nr_cpus);
  }
  return shape;
}

}  // namespace

rc::Gen<u32> evenly(u32 first, u32 end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(first, end));
}

rc::Gen<MachineShape> machine_shapes(u32 min_cpus, u32 max_cpus, std::optional<bool> hyperv) {
  const u32 most = max_cpus + 1;
  const auto within = [&](u32 first, u32 end) {
    return evenly(std::clamp(first, min_cpus, max_cpus), std::clamp(end, min_cpus + 1, most));
  };
  const auto sizes =
      rc::gen::weightedOneOf<u32>({{6, within(1, 6)}, {2, within(63, 67)}, {1, within(1, most)}});
  return rc::gen::mapcat(sizes, [hyperv](u32 nr_cpus) {
    return rc::gen::map(rc::gen::tuple(evenly(0, 1u << 15), evenly(0u, 16u), evenly(0u, nr_cpus),
                                       rc::gen::arbitrary<bool>()),
                        [nr_cpus, hyperv](const std::tuple<u32, u32, u32, bool>& t) {
                          // Shrinks towards zero, so zero is made the plainest of all.
                          MachineShape shape = shape_of(nr_cpus, ~std::get<0>(t) & 0x7fff,
                                                        15 - std::get<1>(t), std::get<2>(t));
                          shape.hyperv = hyperv.value_or(!std::get<3>(t));
                          return shape;
                        });
  });
}

RangeDraw range_of(u32 draw) {
  constexpr u64 kBase = 0x7f0000000000;
  constexpr u64 kUnit = u64{1} << 24;
  constexpr u8 kHuge = 30;
  switch (draw) {
    case 0: return {kBase, kBase + kPageSize, kPageShift};
    case 1: return {0, kTlbFlushAll, 0};
    case 2: return {kBase, kBase, kPageShift};
    case 3: return {kBase, kBase + kUnit, kHuge};
    case 4: return {kBase, kBase + kUnit - kPageSize, kHuge};
    case 5: return {kBase, kBase + 447 * kUnit + kPageSize, kHuge};
    case 6: return {kBase, kBase + 507 * kUnit + kPageSize, kHuge};
    case 7: return {kBase, kBase + 509 * kUnit, kHuge};
    case 8: return {kBase, kBase + 509 * kUnit + kPageSize, kHuge};
    case 9: return {kBase, kBase + 576 * kUnit, kHuge};
    case 10: return {0xffffffffff000000, 0xffffffffff001000, kPageShift};
    case 11: return {0xfffffffffffff000, 0xffffffffffffffff - 1, kPageShift};
    case 12: return {kBase + 0x800, kBase + 2 * kPageSize, kPageShift};
    case 13: return {kBase + 2 * kPageSize, kBase, kPageShift};  // reversed: becomes a full flush
    case 14: return {kBase, kBase + (u64{5} << 21), 21};
    case 15: return {kBase, kBase + 33 * kPageSize, kPageShift};
    case 16: return {kBase, kBase + 34 * kPageSize, kPageShift};
    default: {
      const u64 start = kBase + draw % 4 * kPageSize;
      return {start, start + (1 + draw / 4 % 8) * kPageSize, kPageShift};
    }
  }
}

std::size_t era_index(std::string_view name) {
  return static_cast<std::size_t>(find_era(name) - eras().data());
}

}  // namespace hvtlb::proptest
