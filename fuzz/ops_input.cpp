#include "fuzz/ops_input.h"

#include "fuzz/byte_source.h"
#include "fuzz/ranges.h"
#include "model/eras.h"

namespace hvtlb::fuzz {
namespace {

u32 vp_of(u32 numbering, Cpu cpu, u32 nr_cpus, u8 parameter) {
  switch (numbering) {
    case 1: return 60 + parameter % 5 + cpu;  // about the end of a plain call
    case 2: return cpu * 31 % 4093;           // scattered over the banks
    case 3: return nr_cpus - 1 - cpu;
    case 4: return cpu == parameter % nr_cpus ? kVpInvalid : cpu;  // the guest does not know one
    case 5: return cpu * 64 % 4096 + cpu / 64;                     // a bank each
    case 6:
      return cpu == parameter % nr_cpus ? 200 + cpu : cpu;  // one that a plain call cannot name
    default: return cpu;
  }
}

/// Small machines, which are fast, and now and then one that has the borders of words and banks.
u32 size_of(u8 choice) {
  if (choice < 224) return 1 + choice % 6;
  return choice < 240 ? 20 : choice < 248 ? 66 : 130;
}

/// Five bytes of the header.
MachineShape read_shape(ByteSource& bytes) {
  MachineShape shape;
  shape.nr_cpus = size_of(bytes.byte());
  const u8 flags = bytes.byte();
  shape.hyperv = (flags & 1) == 0;
  shape.pcid = (flags & 2) == 0;
  shape.ex_processor_masks_recommended = (flags & 4) == 0;
  shape.hz = (flags & 8) == 0 ? 250 : 1;
  shape.lam = (flags & 16) != 0;
  shape.pti = (flags & 32) != 0;
  const u8 numbering = bytes.byte();
  const u8 missing = bytes.byte();
  const u8 parameter = bytes.byte();
  for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu)
    shape.vp_index.push_back(
        vp_of(numbering % 16 < 14 ? numbering % 16 % 6 : 6, cpu, shape.nr_cpus, parameter));
  if ((numbering & 0x30) == 0x10) shape.hv_max_vp_index = 4095;
  if ((numbering & 0x30) == 0x20) shape.hv_max_vp_index = 4096;  // zoo Z14
  if (missing >= 128 && shape.nr_cpus > 1) {
    shape.present = CpuMask(shape.nr_cpus);
    shape.present->set_all();
    shape.present->reset(missing % shape.nr_cpus);
  }
  return shape;
}

/// The last mm is only ever used as a temporary one, as text poking's is. Ranges are page-aligned,
/// as those of every caller in the kernel: after an unaligned start the list of a hypercall may
/// leave out the last page, which the roundtrip target knows.
Op read_op(ByteSource bytes, u32 nr_cpus, u32 nr_mms) {
  // Weighted: switches, laziness and flushes are what matters most.
  static constexpr OpKind kKinds[] = {OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kEnterLazy,
                                      OpKind::kEnterLazy,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushBatchedPending,
                                      OpKind::kLeaveMm,
                                      OpKind::kBatchAdd,
                                      OpKind::kBatchFlush,
                                      OpKind::kNestedReclaim,
                                      OpKind::kEnableLam,
                                      OpKind::kTick,
                                      OpKind::kOffline,
                                      OpKind::kOnline,
                                      OpKind::kTouch,
                                      OpKind::kUseTemporaryMm,
                                      OpKind::kUnuseTemporaryMm,
                                      OpKind::kDropMm,
                                      OpKind::kNewMm};
  static constexpr u8 kStrides[] = {12, 12, 12, 21, 21, 30, 30, 0};
  Op op;
  op.kind = kKinds[bytes.below(std::size(kKinds))];
  op.cpu = bytes.below(nr_cpus);
  const u8 what = bytes.byte();
  const u8 range = bytes.byte();
  const u8 offset = bytes.byte();
  const u8 flags = bytes.byte();
  const u16 amount = bytes.word16();
  op.mm = 1 + what % (nr_mms - 1);
  if (op.kind == OpKind::kUseTemporaryMm) op.mm = nr_mms;
  if (op.kind == OpKind::kFlushMmRange && what >= 240) op.mm = nr_mms;
  if (op.kind == OpKind::kSwitchMm && what >= 240) op.mm = kInitMm;
  op.jiffies = amount % 512;
  op.start = kPages + offset % 16u * kPageSize;
  if (op.kind != OpKind::kFlushMmRange) return op;
  op.freed_tables = (flags & 1) != 0;
  op.stride_shift = kStrides[flags >> 1 & 7];
  const bool everything = range % 8 == 3;
  const AddressRange pages =
      everything ? AddressRange{}
                 : place(range >> 3, offset, length_of(range, amount, op.stride_shift));
  op.start = pages.start;
  op.end = pages.end;
  return op;
}

constexpr u32 kOpsInsideTemporaryMm = 4;

}  // namespace

OpsInput read_ops_input(std::span<const u8> input) {
  ByteSource bytes(input);
  OpsInput read;
  read.era = bytes.below(static_cast<u32>(eras().size()));
  const u8 hosts = bytes.byte();
  if (hosts >= 128) read.host = host::kProfiles[hosts % host::kProfiles.size()];
  const u32 nr_mms = 2 + bytes.below(4);
  read.shape = read_shape(bytes);
  read.ops.assign(nr_mms, {.kind = OpKind::kNewMm});
  // A temporary mm is used for a moment: the machine tries what happens meanwhile on a copy, which
  // is slow.
  Op leave;
  u32 until_left = 0;
  for (std::size_t at = kRecordBytes; at < input.size(); at += kRecordBytes) {
    if (read.ops.size() >= kMaxFuzzOps) break;
    const Op op = read_op(ByteSource(input.subspan(at)), read.shape.nr_cpus, nr_mms);
    if (until_left != 0 && (--until_left == 0 || op.kind == OpKind::kUseTemporaryMm)) {
      read.ops.push_back(leave);
      until_left = 0;
    }
    read.ops.push_back(op);
    if (op.kind != OpKind::kUseTemporaryMm) continue;
    leave = {.kind = OpKind::kUnuseTemporaryMm, .cpu = op.cpu};
    until_left = kOpsInsideTemporaryMm;
  }
  return read;
}

std::vector<u32> existing_vps(const MachineShape& shape) {
  std::vector<u32> vps;
  for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) {
    const bool present = !shape.present || shape.present->test(cpu);
    if (present && shape.vp_index[cpu] != kVpInvalid) vps.push_back(shape.vp_index[cpu]);
  }
  return vps;
}

}  // namespace hvtlb::fuzz
