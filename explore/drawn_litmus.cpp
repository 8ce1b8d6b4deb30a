#include "explore/drawn_litmus.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "explore/litmus_file.h"
#include "explore/step.h"
#include "scenario/machine.h"

namespace hvtlb::explore {
namespace {

constexpr u32 kMostDrawnMms = 3;
constexpr u32 kWhoseFlushes = 8;  // of so many draws one names the first mm, one the second, ...;
                                  // the others name the one that the CPU runs

MachineShape shape_of(const MachineDraw& draw) {
  MachineShape shape;
  static constexpr u8 kCpus[] = {2, 2, 3, 3, 2, 3, 3, 4};  // the fewer, the more they meet
  shape.nr_cpus = kCpus[draw.cpus % std::size(kCpus)];
  shape.hyperv = (draw.flags & kDrawNative) == 0;
  shape.pcid = (draw.flags & kDrawNoPcid) != kDrawNoPcid;
  shape.ex_processor_masks_recommended = (draw.flags & kDrawNoExHint) == 0;
  shape.lam = (draw.flags & kDrawLam) != 0;
  for (Cpu cpu = 0; cpu < shape.nr_cpus; ++cpu) switch (draw.vps % 8) {
      case 1: shape.vp_index.push_back(62 + cpu); break;  // on both sides of a plain call's end
      case 2: shape.vp_index.push_back(64 * cpu); break;  // a bank each
      case 3: shape.vp_index.push_back(cpu == 1 ? kVpInvalid : cpu); break;
      default: shape.vp_index.push_back(cpu); break;
    }
  return shape;
}

class Builder {
 public:
  Builder(const LitmusDraw& draw, const Rules& rules, bool freed_tables)
      : freed_tables_(freed_tables),
        has_temporary_((draw.machine.flags & kDrawTemporary) != 0),
        nr_mms_(std::min(2 + draw.machine.mms % 4 / 3 + u32{has_temporary_}, kMostDrawnMms)),
        machine_(shape_of(draw.machine), rules) {
    litmus_.name = "drawn";
    litmus_.machine = shape_of(draw.machine);
    litmus_.rules = rules;
    litmus_.programs.resize(litmus_.machine.nr_cpus);
    litmus_.mm_names = {"init_mm"};
    for (MmId mm = 1; mm <= nr_mms_; ++mm) {
      apply({.kind = OpKind::kNewMm});
      litmus_.mm_names.push_back(fmt::format("P{}", mm));
    }
  }

  void add_before(const OpDraw& draw) {
    const std::optional<Op> op = op_of(draw, drawn_kinds_before());
    if (op && apply(*op) && op->kind == OpKind::kUseTemporaryMm) apply(way_back(*op));
  }

  /// REQUIRES: nothing more comes before the programs.
  void add(const OpDraw& draw) {
    const std::optional<Op> drawn = op_of(draw, drawn_kinds());
    if (!drawn || !machine_.guest().online(drawn->cpu)) return;
    const Op& op = *drawn;
    std::vector<Op>& program = litmus_.programs[op.cpu];
    if (op.kind == OpKind::kEnableLam && !may_enable_lam(op.cpu)) return;
    if (op.kind == OpKind::kSwitchMm && lam_of_another(op)) return;
    const bool temporary = op.kind == OpKind::kUseTemporaryMm;
    if (program.size() + 1 + u32{temporary} > kMaxProgramSteps) return;
    program.push_back(op);
    if (temporary) program.push_back(way_back(op));
  }

  Litmus take() { return std::move(litmus_); }

 private:
  bool apply(const Op& op) {
    if (machine_.apply(op) != OpError::kNone) return false;
    litmus_.before.push_back(op);
    return true;
  }

  static Op way_back(const Op& op) { return {.kind = OpKind::kUnuseTemporaryMm, .cpu = op.cpu}; }

  /// Nothing: it does not fit the machine or who runs where.
  std::optional<Op> op_of(const OpDraw& draw, std::span<const OpKind> kinds) const {
    const OpKind kind = kinds[draw.kind % kinds.size()];
    Op op{.kind = kind};
    const u32 nr_run = has_temporary_ ? nr_mms_ - 1 : nr_mms_;  // that may run
    switch (kind) {
      case OpKind::kTick: op.jiffies = draw.what * kJiffiesADraw; return op;
      case OpKind::kUseTemporaryMm:
        if (!has_temporary_) return std::nullopt;
        op.mm = nr_mms_;
        break;
      case OpKind::kFlushBatchedPending:
      case OpKind::kSwitchMm: op.mm = 1 + draw.mm % nr_run; break;
      case OpKind::kBatchAdd:
        op.mm = 1 + draw.mm % nr_run;
        op.start = drawn_range(draw.what).start;
        break;
      case OpKind::kFlushMmRange:
        op = drawn_range(draw.what);
        op.cpu = draw.cpu % litmus_.machine.nr_cpus;
        op.mm = draw.mm % kWhoseFlushes < nr_mms_ ? 1 + draw.mm % kWhoseFlushes : uses(op.cpu);
        if (op.mm == kInitMm) return std::nullopt;
        // A temporary mm keeps its tables: unuse_temporary_mm() clears the bit before CR3 changes.
        op.freed_tables =
            freed_tables_ && draw.what >= kDrawFreedTables && !(has_temporary_ && op.mm == nr_mms_);
        break;
      default: break;
    }
    op.cpu = draw.cpu % litmus_.machine.nr_cpus;
    return op;
  }

  /// Whom the task on the CPU uses behind what its program has so far.
  MmId uses(Cpu cpu) const {
    MmId mm = machine_.truth().uses(cpu);
    for (const Op& op : litmus_.programs[cpu]) {
      if (op.kind == OpKind::kSwitchMm) mm = op.mm;
      if (op.kind == OpKind::kEnterLazy || op.kind == OpKind::kLeaveMm) mm = kInitMm;
    }
    return mm;
  }

  bool ever_uses(Cpu cpu, MmId mm) const {
    if (machine_.truth().uses(cpu) == mm) return true;
    for (const Op& op : litmus_.programs[cpu])
      if (op.kind == OpKind::kSwitchMm && op.mm == mm) return true;
    return false;
  }

  /// A process enables LAM while it has one thread (MM_CONTEXT_LOCK_LAM).
  bool may_enable_lam(Cpu cpu) const {
    const MmId mm = uses(cpu);
    if (!litmus_.machine.lam || mm == kInitMm) return false;
    for (Cpu other = 0; other < litmus_.machine.nr_cpus; ++other)
      if (other != cpu && ever_uses(other, mm)) return false;
    return true;
  }

  /// Whether the mm's only thread enables LAM on another CPU.
  bool lam_of_another(const Op& op) const {
    for (Cpu other = 0; other < litmus_.machine.nr_cpus; ++other) {
      if (other == op.cpu || !ever_uses(other, op.mm)) continue;
      for (const Op& each : litmus_.programs[other])
        if (each.kind == OpKind::kEnableLam) return true;
    }
    return false;
  }

  bool freed_tables_;
  bool has_temporary_;
  u32 nr_mms_;
  Machine machine_;
  Litmus litmus_;
};

}  // namespace

std::span<const OpKind> drawn_kinds_before() {
  static constexpr OpKind kKinds[] = {
      OpKind::kSwitchMm,  OpKind::kSwitchMm,     OpKind::kSwitchMm,       OpKind::kSwitchMm,
      OpKind::kSwitchMm,  OpKind::kSwitchMm,     OpKind::kSwitchMm,       OpKind::kSwitchMm,
      OpKind::kEnterLazy, OpKind::kEnterLazy,    OpKind::kEnterLazy,      OpKind::kTick,
      OpKind::kLeaveMm,   OpKind::kFlushMmRange, OpKind::kUseTemporaryMm, OpKind::kOffline,
      OpKind::kOnline,    OpKind::kEnableLam,
  };
  return kKinds;
}

std::span<const OpKind> drawn_kinds() {
  static constexpr OpKind kKinds[] = {
      OpKind::kSwitchMm,       OpKind::kSwitchMm,     OpKind::kSwitchMm,
      OpKind::kSwitchMm,       OpKind::kSwitchMm,     OpKind::kFlushBatchedPending,
      OpKind::kFlushMmRange,   OpKind::kFlushMmRange, OpKind::kFlushMmRange,
      OpKind::kFlushMmRange,   OpKind::kFlushMmRange, OpKind::kFlushBatchedPending,
      OpKind::kEnterLazy,      OpKind::kEnterLazy,    OpKind::kEnterLazy,
      OpKind::kBatchAdd,       OpKind::kBatchAdd,     OpKind::kBatchFlush,
      OpKind::kLeaveMm,        OpKind::kEnableLam,    OpKind::kUseTemporaryMm,
      OpKind::kUseTemporaryMm,
  };
  return kKinds;
}

Op drawn_range(u32 which) {
  constexpr u64 kBase = 0x7f0000000000;
  constexpr u32 kCeiling = 33;  // pages, above which everything is flushed
  const auto pages = [](u64 first, u64 count) {
    return Op{.kind = OpKind::kFlushMmRange,
              .start = kBase + first * kPageSize,
              .end = kBase + (first + count) * kPageSize};
  };
  switch (which % kNrDrawnRanges) {
    case 1: return pages(5, 1);
    case 2: return {.kind = OpKind::kFlushMmRange, .stride_shift = 0, .end = kTlbFlushAll};
    case 3: return pages(0, 3);
    case 4: return pages(0, kCeiling);
    case 5: return pages(0, kCeiling + 1);
    case 6: {
      constexpr u8 kHuge = 21;
      return {.kind = OpKind::kFlushMmRange,
              .stride_shift = kHuge,
              .start = kBase,
              .end = kBase + (u64{5} << kHuge)};
    }
    default: return pages(0, 1);
  }
}

bool holds_in_every_order(const Era& era) {
  return std::none_of(
      era.known_faults.begin(), era.known_faults.end(),
      [](const KnownFault& fault) { return fault.interleaving && fault.zoo != "Z41"; });
}

bool may_free_tables(const Era& era) {
  return std::none_of(era.known_faults.begin(), era.known_faults.end(),
                      [](const KnownFault& fault) { return fault.zoo == "Z41"; });
}

Litmus litmus_of(const LitmusDraw& draw, const Rules& rules, bool freed_tables) {
  Builder builder(draw, rules, freed_tables);
  for (const OpDraw& each : draw.before) builder.add_before(each);
  for (const OpDraw& each : draw.programs) builder.add(each);
  return builder.take();
}

}  // namespace hvtlb::explore
