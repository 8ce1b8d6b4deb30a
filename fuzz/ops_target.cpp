#include "fuzz/ops_target.h"

#include <fmt/format.h>

#include "flush/recorder.h"
#include "fuzz/byte_source.h"
#include "model/eras.h"
#include "scenario/machine.h"

namespace hvtlb::fuzz {
namespace {

constexpr u64 kPages = 0x7f0000000000;

MachineShape read_shape(ByteSource& bytes) {
  static constexpr u32 kSizes[] = {1, 2, 3, 4, 8, 63, 64, 65, 66, 130};
  MachineShape shape;
  shape.nr_cpus = kSizes[bytes.below(std::size(kSizes))];
  const u8 flags = bytes.byte();
  shape.hyperv = (flags & 1) == 0;
  shape.pcid = (flags & 2) == 0;
  shape.ex_processor_masks_recommended = (flags & 4) == 0;
  shape.hz = (flags & 8) == 0 ? 250 : 1;
  switch (flags >> 4 & 3) {
    case 0: break;  // VP n = CPU n
    case 1:         // beyond a plain call
      for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) shape.vp_index.push_back(60 + cpu);
      break;
    case 2:  // scattered over banks
      for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) shape.vp_index.push_back(cpu * 31 % 4093);
      break;
    case 3:  // the guest does not know one
      for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu)
        shape.vp_index.push_back(cpu == shape.nr_cpus / 2 ? kVpInvalid : cpu);
      break;
  }
  return shape;
}

/// The last mm is only ever a temporary one, as text poking's is.
Op read_op(ByteSource& bytes, u32 nr_cpus, u32 nr_mms) {
  // Weighted: switches, laziness and flushes are what matters most.
  static constexpr OpKind kKinds[] = {
      OpKind::kSwitchMm,     OpKind::kSwitchMm,       OpKind::kSwitchMm,
      OpKind::kEnterLazy,    OpKind::kEnterLazy,      OpKind::kFlushMmRange,
      OpKind::kFlushMmRange, OpKind::kFlushMmRange,   OpKind::kFlushMmRange,
      OpKind::kLeaveMm,      OpKind::kUseTemporaryMm, OpKind::kUnuseTemporaryMm,
      OpKind::kBatchAdd,     OpKind::kBatchFlush,     OpKind::kTick,
      OpKind::kOffline,      OpKind::kOnline,         OpKind::kTouch,
      OpKind::kDropMm,       OpKind::kNewMm};
  Op op;
  op.kind = kKinds[bytes.below(std::size(kKinds))];
  op.cpu = bytes.below(nr_cpus);
  const u8 what = bytes.byte();
  op.mm = 1 + what % (nr_mms - 1);
  if (op.kind == OpKind::kUseTemporaryMm) op.mm = nr_mms;
  if (op.kind == OpKind::kSwitchMm && what >= 240) op.mm = kInitMm;
  op.jiffies = what;
  if (op.kind != OpKind::kFlushMmRange) {
    op.start = kPages + (what >> 4) * kPageSize;
    return op;
  }
  const u8 range = bytes.byte();
  op.freed_tables = (range & 1) != 0;
  op.stride_shift = (range & 2) != 0 ? 21 : kPageShift;
  op.start = kPages + (u64{range >> 2 & 3u} << op.stride_shift);
  op.end = op.start + (u64{range >> 4 & 15u} << op.stride_shift);
  if (range >> 4 == 15) op.end = kTlbFlushAll;
  return op;
}

}  // namespace

std::optional<std::string> run_ops(std::span<const std::uint8_t> input, HypercallHost* host) {
  ByteSource bytes(input);
  const Era& era = eras()[bytes.below(static_cast<u32>(eras().size()))];
  const MachineShape shape = read_shape(bytes);
  Machine machine(shape, era.rules, host);
  std::optional<std::string> broken;
  FlushRecorder recorder(machine.kernel(), machine.truth(), [&](const FlushRecord& record) {
    if (record.missed().any() && !broken)
      broken =
          fmt::format("CPUs {} needed a flush and were not reached", record.missed().to_list());
  });
  machine.observe(&recorder);
  const u32 nr_mms = 2 + bytes.below(4);
  for (u32 mm = 0; mm < nr_mms; ++mm) machine.apply({.kind = OpKind::kNewMm});
  for (u32 count = 0; count < kMaxFuzzOps && !bytes.empty() && !broken; ++count) {
    const Op op = read_op(bytes, shape.nr_cpus, nr_mms);
    machine.apply(op);  // a refused operation changes nothing
    if (machine.nr_violations() != 0)
      broken = fmt::format("{} under {}", to_string(machine.violations().front()), era.name);
    const CpuTlbState& tlb = machine.guest().cpu_tlbstate[op.cpu];
    if (tlb.irqs_off != (tlb.temporary_mm_prev ? 1 : 0))
      broken = fmt::format("CPU {} has interrupts off {} deep", op.cpu, tlb.irqs_off);
  }
  return broken;
}

}  // namespace hvtlb::fuzz
