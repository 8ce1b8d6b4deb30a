#include "fuzz/roundtrip_target.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "flush/decision.h"
#include "fuzz/byte_source.h"
#include "fuzz/ranges.h"
#include "fuzz/roundtrip_intent.h"
#include "model/eras.h"
#include "scenario/wire_checks.h"

namespace hvtlb::fuzz {
namespace {

// The input: a header of four bytes, then records of four, each a run of CPUs in one state or a
// flush.
constexpr u32 kMostRuns = 16;

// Few CPUs far apart have all the borders of many; 20 and more are for the walks by words.
constexpr std::array<u32, 9> kSizes{2, 3, 4, 6, 8, 1, 20, 66, 130};
constexpr u32 kNrNumberings = 7;

MachineShape shape_of(u32 size, u32 numbering) {
  MachineShape shape;
  shape.nr_cpus = kSizes[size];
  for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) {
    u32 vp = cpu;
    if (numbering == 1) vp = 62 + cpu;
    if (numbering == 2) vp = cpu * 31 % 4093;
    if (numbering == 3) vp = shape.nr_cpus - 1 - cpu;
    if (numbering == 6) vp = cpu * 64 % 4096 + cpu / 64;  // a bank each
    if (numbering == 4 && cpu == shape.nr_cpus / 2) vp = kVpInvalid;
    shape.vp_index.push_back(vp);
  }
  if (numbering == 5 && shape.nr_cpus > 1) {
    shape.present = CpuMask(shape.nr_cpus);
    shape.present->set_all();
    shape.present->reset(shape.nr_cpus - 1);
  }
  return shape;
}

/// A machine that is used again and again: making one costs more than a flush.
struct Stage {
  Guest guest;
  WireChecker wire;
  MmId mm;
  MmId other;
  u32 hv_max_vp_index;

  explicit Stage(const MachineShape& shape)
      : guest(shape),
        wire(guest),
        mm(guest.new_mm()),
        other(guest.new_mm()),
        hv_max_vp_index(guest.hv_max_vp_index) {}

  /// As new: nothing of an earlier input is left.
  void reset() {
    guest.hv_max_vp_index = hv_max_vp_index;
    std::fill(guest.cpu_tlbstate_shared.begin(), guest.cpu_tlbstate_shared.end(),
              CpuTlbStateShared{mm, 0});
    guest.cpu_online_mask = guest.cpu_present_mask;
    std::fill(guest.mm(mm).cpumask.begin(), guest.mm(mm).cpumask.end(), 0);
  }
};

Stage& stage_of(u8 choice) {
  static std::array<std::unique_ptr<Stage>, kSizes.size() * kNrNumberings> stages;
  const u32 at = choice % stages.size();
  if (!stages[at])
    stages[at] = std::make_unique<Stage>(
        shape_of(at % static_cast<u32>(kSizes.size()), at / static_cast<u32>(kSizes.size())));
  stages[at]->reset();
  return *stages[at];
}

/// Puts `count` CPUs into one state: which mm is loaded, laziness, membership, presence.
void set_run(Stage& stage, Cpu first, u32 count, u8 state) {
  Guest& guest = stage.guest;
  const u64 loaded[] = {stage.mm, stage.other, kLoadedMmSwitching, kInitMm};
  auto& mask = guest.mm(stage.mm).cpumask;
  for (Cpu cpu = first; cpu < std::min(first + count, guest.nr_cpus); ++cpu) {
    const u64 bit = u64{1} << cpu % 64;
    guest.cpu_tlbstate_shared[cpu] = {loaded[state & 3], u64{(state & 4) != 0}};
    mask[cpu / 64] = (state & 8) != 0 ? mask[cpu / 64] & ~bit : mask[cpu / 64] | bit;
    if ((state & 0x30) == 0x30) guest.cpu_online_mask[cpu / 64] &= ~bit;
  }
}

FlushTlbInfo request_of(const Stage& stage, Cpu self, u8 flags, u8 length, u8 where) {
  FlushTlbInfo info;
  info.initiating_cpu = self;
  info.new_tlb_gen = 1;
  info.has_mm = (flags & 0x0e) != 0x0e;  // a batch: everything, no more
  if (!info.has_mm) return info;
  info.mm = stage.mm;
  info.freed_tables = (flags & 2) != 0;
  info.trim_cpumask = (flags & 0x1c) == 0x1c;
  if ((flags & 0x60) == 0x60) return info;
  const AddressRange range = place(
      where, where >> 2,
      length_of(length < 128 ? length % 40 == 39 ? 7 : 0 : 4 + length / 8 % 2, length, kPageShift));
  info.start = range.start + ((flags & 0x80) != 0 && where >= 128 ? where : 0u);
  info.end = range.end;
  return info;
}

/// What is wrong with what the builder did, or nothing.
Finding judge(const Stage& stage, const Rules& rules, const FlushTlbInfo& info,
              const DecisionPolicy& policy) {
  if (policy.irqs_off != 0) return fmt::format("interrupts are off {} deep", policy.irqs_off);
  const Intent intent(stage.guest, rules, info, stage.mm);
  if (policy.called) {
    CpuMask named(stage.guest.nr_cpus);
    for (Cpu cpu = 0; cpu < stage.guest.nr_cpus; ++cpu)
      if (intent.named[cpu]) named.set(cpu);
    const WireReport report = stage.wire.check(policy.control, policy.input, {info, named});
    // Z14 and Z15 are in every era.
    if (!report.broken.empty() && !report.empty_set && !report.too_long) return report.broken;
    if (policy.status == hv::kStatusSuccess && policy.native) return "native after a success";
    if (policy.status != hv::kStatusSuccess && !policy.native) return "not native after an error";
    if (intent.trims) return "a call, where a trim was due";
    return std::nullopt;
  }
  if (!policy.native) {
    if (intent.named.any()) return "nobody is reached";
    return std::nullopt;
  }
  if (policy.native_trim != intent.native_trim) return "the trim flag is not the expected one";
  if (!intent.may_be_native()) return "native without a reason";
  CpuSet reached;
  policy.targets.for_each([&](Cpu cpu) { reached.set(cpu); });
  if (reached != intent.native)
    return fmt::format("natively {} are reached, not {}", reached.to_string(),
                       intent.native.to_string());
  return std::nullopt;
}

}  // namespace

Finding run_roundtrip(std::span<const u8> input, void (*change)(Rules&)) {
  ByteSource bytes(input);
  Stage& stage = stage_of(bytes.byte());
  const Era& era = eras()[bytes.below(static_cast<u32>(eras().size()))];
  const u8 flags = bytes.byte();
  stage.guest.ex_processor_masks_recommended = (flags & 1) == 0;
  if ((flags & 6) == 2) stage.guest.hv_max_vp_index = 4095;
  if ((flags & 6) == 4) stage.guest.hv_max_vp_index = 4096;
  const u16 host_status = bytes.byte() >= 224 ? hv::kStatusInvalidParameter : hv::kStatusSuccess;
  Rules changed;
  if (change != nullptr) change(changed = era.rules);
  const Rules& rules = change != nullptr ? changed : era.rules;

  const u32 most_flushes = (flags & 8) != 0 ? 2 : 1;  // the second finds what the first left
  u32 nr_runs = 0;
  u32 nr_flushes = 0;
  Cpu sender = 0;
  while (!bytes.empty() && nr_flushes < most_flushes && nr_runs < kMostRuns) {
    const u8 what = bytes.byte();
    const Cpu cpu = bytes.byte() % stage.guest.nr_cpus;
    const u8 second = bytes.byte();
    const u8 third = bytes.byte();
    if ((what & 1) == 0) {
      set_run(stage, cpu, second, third);
      ++nr_runs;
      continue;
    }
    if (!stage.guest.online(cpu)) continue;
    HypercallInputPage* const page = stage.guest.input_page(cpu);
    if (nr_flushes++ == 0 || cpu != sender) std::fill(page->words.begin(), page->words.end(), 0);
    sender = cpu;
    const FlushTlbInfo info = request_of(stage, cpu, what, second, third);
    DecisionPolicy policy;
    policy.host_status = host_status;
    Kernel<DecisionPolicy> k{stage.guest, rules, policy};
    hyperv_flush_tlb_multi(k, cpu, stage.guest.mm(stage.mm).cpumask, info);
    if (Finding finding = judge(stage, rules, info, policy))
      return fmt::format("{}, CPU {}: {}", era.name, cpu, *finding);
    page->words.back() = 0;  // what Z15 left behind the page is not the next call's
  }
  return std::nullopt;
}

}  // namespace hvtlb::fuzz
