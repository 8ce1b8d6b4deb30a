// Operations as commands of RapidCheck's state machinery. The model knows just enough to tell which
// operations fit: who runs where, which CPUs are online or inside a temporary mm, who is alive.
#include <array>
#include <bitset>
#include <rapidcheck/state.h>

#include "proptest/case.h"

namespace hvtlb::proptest {
namespace {

constexpr u32 kMostCpus = 200;
constexpr u32 kMostProcesses = 6;

struct Model {
  u32 nr_cpus = 1;
  u32 nr_processes = 1;
  bool lam = false;
  u32 nr_inside = 0;
  std::bitset<kMostCpus> present;
  std::bitset<kMostCpus> online;
  std::bitset<kMostCpus> inside;     // a temporary mm
  std::array<u8, kMostCpus> runs{};  // a process, 0: nobody
  std::bitset<kMostProcesses + 1> alive;
  std::bitset<kMostProcesses + 1> borrowed;  // used as a temporary mm: never run
};

using Sut = std::vector<Op>;

OpKind kind_of(u32 draw) {
  static constexpr OpKind kKinds[] = {OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kSwitchMm,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushMmRange,
                                      OpKind::kFlushBatchedPending,
                                      OpKind::kEnterLazy,
                                      OpKind::kEnterLazy,
                                      OpKind::kEnterLazy,
                                      OpKind::kEnterLazy,
                                      OpKind::kTick,
                                      OpKind::kTick,
                                      OpKind::kLeaveMm,
                                      OpKind::kTouch,
                                      OpKind::kBatchAdd,
                                      OpKind::kBatchFlush,
                                      OpKind::kBatchAdd,
                                      OpKind::kNestedReclaim,
                                      OpKind::kUseTemporaryMm,
                                      OpKind::kOffline,
                                      OpKind::kUnuseTemporaryMm,
                                      OpKind::kUnuseTemporaryMm,
                                      OpKind::kOnline,
                                      OpKind::kEnableLam,
                                      OpKind::kDropMm,
                                      OpKind::kNewMm};
  return kKinds[draw % std::size(kKinds)];
}
constexpr u32 kNrKindDraws = 34;

bool fits(const Model& m, const Op& op) {
  const bool free = op.cpu < m.nr_cpus && m.online[op.cpu] && !m.inside[op.cpu];
  const bool process = op.mm >= 1 && op.mm <= m.nr_processes && m.alive[op.mm];
  switch (op.kind) {
    case OpKind::kSwitchMm: return free && process && !m.borrowed[op.mm];
    case OpKind::kEnterLazy:
    case OpKind::kLeaveMm:
    case OpKind::kTouch: return free;
    // An IPI to a CPU inside a temporary mm would wait for ever: none is sent meanwhile.
    case OpKind::kFlushBatchedPending:
    case OpKind::kFlushMmRange: return free && process && m.nr_inside == 0;
    case OpKind::kBatchAdd: return process;
    case OpKind::kBatchFlush: return free && m.nr_inside == 0;
    case OpKind::kNestedReclaim:
    case OpKind::kTick: return true;
    case OpKind::kUseTemporaryMm: {
      const auto runs = [&](Cpu cpu) { return m.runs[cpu] == op.mm; };
      bool unused = free && process && m.nr_processes > 1 && op.mm == m.nr_processes;
      for (Cpu cpu = 0; cpu < m.nr_cpus && unused; ++cpu) unused = !runs(cpu);
      return unused;
    }
    case OpKind::kUnuseTemporaryMm: return op.cpu < m.nr_cpus && m.inside[op.cpu];
    case OpKind::kOffline: return free && m.online.count() > 1;
    case OpKind::kOnline: return op.cpu < m.nr_cpus && m.present[op.cpu] && !m.online[op.cpu];
    case OpKind::kUseGlobalAsid: return false;  // not drawn: most eras refuse it
    case OpKind::kEnableLam: return free && m.lam && m.runs[op.cpu] != 0 && m.nr_inside == 0;
    case OpKind::kDropMm: {
      bool unused = process && m.alive.count() > 1 && m.nr_inside == 0;
      for (Cpu cpu = 0; cpu < m.nr_cpus && unused; ++cpu) unused = m.runs[cpu] != op.mm;
      return unused;
    }
    case OpKind::kNewMm: return op.mm >= 1 && op.mm <= m.nr_processes && !m.alive[op.mm];
  }
  return false;
}

struct OpCommand : rc::state::Command<Model, Sut> {
  Op op;

  explicit OpCommand(const Model& m) {
    op.kind = kind_of(*evenly(0u, kNrKindDraws));
    op.cpu = *evenly(0u, m.nr_cpus);
    const u32 draw = *evenly(0u, 256u);
    op.mm = 1 + draw % m.nr_processes;
    if (op.kind == OpKind::kUseTemporaryMm) op.mm = m.nr_processes;
    if (op.kind == OpKind::kTick) op.jiffies = draw % 4 == 0 ? draw * 8 : draw;
    if (op.kind == OpKind::kBatchAdd) op.start = 0x7f0000000000 + draw / 8 % 8 * kPageSize;
    if (op.kind == OpKind::kFlushMmRange) {
      const RangeDraw range = range_of(*evenly(0u, kNrRangeDraws));
      op.start = range.start;
      op.end = range.end;
      op.stride_shift = range.stride_shift;
      op.freed_tables = draw >= 192;
      // Most often by a CPU that runs the mm.
      if (draw % 3 != 0 && m.runs[op.cpu] != 0) op.mm = m.runs[op.cpu];
    }
  }

  void checkPreconditions(const Model& m) const override { RC_PRE(fits(m, op)); }

  void apply(Model& m) const override {
    switch (op.kind) {
      case OpKind::kSwitchMm: m.runs[op.cpu] = static_cast<u8>(op.mm); break;
      case OpKind::kEnterLazy:
      case OpKind::kLeaveMm: m.runs[op.cpu] = 0; break;
      case OpKind::kUseTemporaryMm:
        m.inside.set(op.cpu);
        m.borrowed.set(op.mm);
        ++m.nr_inside;
        break;
      case OpKind::kUnuseTemporaryMm:
        m.inside.reset(op.cpu);
        --m.nr_inside;
        break;
      case OpKind::kOffline:
        m.online.reset(op.cpu);
        m.runs[op.cpu] = 0;
        break;
      case OpKind::kOnline: m.online.set(op.cpu); break;
      case OpKind::kDropMm: m.alive.reset(op.mm); break;
      case OpKind::kNewMm:
        m.alive.set(op.mm);
        m.borrowed.reset(op.mm);
        break;
      default: break;
    }
  }

  void run(const Model&, Sut& ops) const override { ops.push_back(op); }
  void show(std::ostream& out) const override { out << name_of(op.kind); }
};

Model model_of(const Case& c) {
  Model m;
  m.nr_cpus = c.shape.nr_cpus;
  m.nr_processes = c.nr_processes;
  m.lam = c.shape.lam;
  for (Cpu cpu = 0; cpu < m.nr_cpus; ++cpu)
    if (!c.shape.present || c.shape.present->test(cpu)) m.present.set(cpu);
  m.online = m.present;
  for (u32 process = 1; process <= m.nr_processes; ++process) m.alive.set(process);
  return m;
}

rc::Gen<Case> with_ops(const Case& c) {
  const Model model = model_of(c);
  const auto commands = rc::state::gen::commands(rc::fn::constant(model),
                                                 rc::state::gen::execOneOfWithArgs<OpCommand>());
  return rc::gen::map(commands,
                      [c, model](const rc::state::Commands<rc::state::Command<Model, Sut>>& list) {
                        Case whole = c;
                        rc::state::runAll(list, model, whole.ops);
                        return whole;
                      });
}

}  // namespace

rc::Gen<Case> cases(const Wanted& wanted) {
  const auto era =
      wanted.era ? rc::gen::just(*wanted.era) : rc::gen::inRange<std::size_t>(0, eras().size());
  return rc::gen::mapcat(
      rc::gen::tuple(
          era, machine_shapes(wanted.min_cpus, std::min(wanted.max_cpus, kMostCpus), wanted.hyperv),
          evenly(1u, kMostProcesses + 1),
          rc::gen::elementOf(
              std::vector<host::Profile>(host::kProfiles.begin(), host::kProfiles.end()))),
      [](const std::tuple<std::size_t, MachineShape, u32, host::Profile>& t) {
        Case c;
        c.era_index = std::get<0>(t);
        c.shape = std::get<1>(t);
        c.nr_processes = std::get<2>(t);
        c.host = std::get<3>(t);
        return with_ops(c);
      });
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << print_scenario(
             scenario_of(c, std::string(c.era().name), {}, "found by a property"));
}

}  // namespace hvtlb::proptest
