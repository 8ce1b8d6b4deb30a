#include "proptest/machine_gen.h"

#include <fmt/format.h>

namespace hvtlb::proptest {
namespace {

constexpr u64 kPages = 0x7f0000000000;

rc::Gen<std::vector<u32>> vp_indices(u32 nr_cpus) {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange(0u, nr_cpus)),
                      [nr_cpus](const std::pair<int, u32>& choice) {
                        std::vector<u32> vps;
                        for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) switch (choice.first) {
                            case 0: vps.push_back(cpu); break;
                            case 1: vps.push_back(60 + cpu); break;
                            case 2: vps.push_back(cpu * 31 % 4093); break;
                            case 3: vps.push_back(nr_cpus - 1 - cpu); break;
                            default: vps.push_back(cpu == choice.second ? kVpInvalid : cpu); break;
                          }
                        return vps;
                      });
}

rc::Gen<MachineShape> machine_shapes(rc::Gen<bool> hyperv) {
  const auto sizes = rc::gen::weightedOneOf<u32>({{4, rc::gen::inRange<u32>(1, 6)},
                                                  {2, rc::gen::element<u32>(63, 64, 65, 66)},
                                                  {1, rc::gen::inRange<u32>(7, 131)}});
  return rc::gen::mapcat(sizes, [hyperv](u32 nr_cpus) {
    return rc::gen::map(rc::gen::tuple(vp_indices(nr_cpus), hyperv, rc::gen::arbitrary<bool>(),
                                       rc::gen::inRange(0, 8), rc::gen::inRange(0u, nr_cpus + 3)),
                        [nr_cpus](const std::tuple<std::vector<u32>, bool, bool, int, u32>& t) {
                          MachineShape shape;
                          shape.nr_cpus = nr_cpus;
                          shape.vp_index = std::get<0>(t);
                          shape.hyperv = std::get<1>(t);
                          shape.pcid = std::get<2>(t) || std::get<3>(t) != 0;
                          shape.ex_processor_masks_recommended = std::get<3>(t) != 1;
                          shape.hz = std::get<3>(t) == 2 ? 1 : 250;
                          if (std::get<4>(t) < nr_cpus && nr_cpus > 1) {  // one CPU is not present
                            shape.present = CpuMask(nr_cpus);
                            shape.present->set_all();
                            shape.present->reset(std::get<4>(t));
                          }
                          return shape;
                        });
  });
}

rc::Gen<Op> operations(u32 nr_cpus, u32 nr_mms) {
  const auto kinds = rc::gen::weightedElement<OpKind>({{6, OpKind::kSwitchMm},
                                                       {4, OpKind::kEnterLazy},
                                                       {2, OpKind::kLeaveMm},
                                                       {1, OpKind::kUseTemporaryMm},
                                                       {1, OpKind::kUnuseTemporaryMm},
                                                       {8, OpKind::kFlushMmRange},
                                                       {1, OpKind::kBatchAdd},
                                                       {1, OpKind::kBatchFlush},
                                                       {1, OpKind::kTick},
                                                       {1, OpKind::kOffline},
                                                       {1, OpKind::kOnline},
                                                       {1, OpKind::kTouch},
                                                       {1, OpKind::kDropMm},
                                                       {1, OpKind::kNewMm}});
  return rc::gen::map(
      rc::gen::tuple(kinds, rc::gen::inRange(0u, nr_cpus), rc::gen::inRange(1u, nr_mms),
                     rc::gen::inRange(0u, 40u), rc::gen::inRange(0u, 8u)),
      [nr_mms](const std::tuple<OpKind, Cpu, MmId, u32, u32>& t) {
        Op op;
        op.kind = std::get<0>(t);
        op.cpu = std::get<1>(t);
        op.mm = op.kind == OpKind::kUseTemporaryMm ? nr_mms : std::get<2>(t);
        const u32 pages = std::get<3>(t);
        const u32 bits = std::get<4>(t);
        op.jiffies = pages * 10;
        op.start = kPages + (bits & 3) * kPageSize;
        op.stride_shift = bits == 7 ? 21 : kPageShift;
        op.freed_tables = bits == 1 || bits == 6;
        op.end = pages == 39 ? kTlbFlushAll : op.start + (u64{pages} << op.stride_shift);
        return op;
      });
}

rc::Gen<Case> cases(rc::Gen<std::size_t> era, rc::Gen<bool> hyperv) {
  return rc::gen::mapcat(
      rc::gen::tuple(era, machine_shapes(hyperv), rc::gen::inRange(2u, 6u)),
      [](const std::tuple<std::size_t, MachineShape, u32>& t) {
        const MachineShape& shape = std::get<1>(t);
        const auto ops =
            rc::gen::container<std::vector<Op>>(operations(shape.nr_cpus, std::get<2>(t)));
        return rc::gen::map(rc::gen::scale(1.5, ops), [t](std::vector<Op> list) {
          return Case{std::get<0>(t), std::get<1>(t), std::get<2>(t), std::move(list)};
        });
      });
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << fmt::format("era {}, {} CPUs, {}, PCID {}, HZ {}, {} mms, VPs", c.rules_of().name,
                     c.shape.nr_cpus, c.shape.hyperv ? "hyperv" : "native",
                     c.shape.pcid ? "on" : "off", c.shape.hz, c.nr_mms);
  for (u32 vp : c.shape.vp_index) out << (vp == kVpInvalid ? " -" : fmt::format(" {}", vp));
  for (const Op& op : c.ops)
    out << fmt::format("\n  {} cpu {} mm {} {:#x}-{:#x} stride {}{} jiffies {}", name_of(op.kind),
                       op.cpu, op.mm, op.start, op.end, op.stride_shift,
                       op.freed_tables ? " freed_tables" : "", op.jiffies);
  return out;
}

rc::Gen<Case> arbitrary_case() {
  return cases(rc::gen::inRange<std::size_t>(0, eras().size()), rc::gen::arbitrary<bool>());
}

rc::Gen<Case> arbitrary_case(std::size_t era, bool hyperv) {
  return cases(rc::gen::just(era), rc::gen::just(hyperv));
}

std::size_t era_index(std::string_view name) {
  return static_cast<std::size_t>(find_era(name) - eras().data());
}

void make_mms(Machine& machine, const Case& c) {
  for (u32 mm = 0; mm < c.nr_mms; ++mm) machine.apply({.kind = OpKind::kNewMm});
}

}  // namespace hvtlb::proptest
