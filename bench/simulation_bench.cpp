// Whole machines, with the hardware truth and the checks of P1 to P4.
#include <benchmark/benchmark.h>
#include <random>
#include <vector>

#include "model/eras.h"
#include "scenario/machine.h"

namespace hvtlb::bench {
namespace {

constexpr u32 kNrCpus = 96;
constexpr u32 kNrMms = 8;
constexpr u32 kNrOps = 1u << 16;
constexpr u32 kOpsPerTick = 1000;
constexpr u32 kSeed = 1;
constexpr u64 kHeap = 0x7f0000000000;

MachineShape machine(bool hyperv) {
  MachineShape shape;
  shape.nr_cpus = kNrCpus;
  shape.hyperv = hyperv;
  return shape;
}

/// Threads of a few processes that wander over the CPUs: 40 % switches, 20 % lazy entries, 30 %
/// touches, and 10 % flushes of 1 to 8 pages by a CPU that runs the mm; about half of the CPUs are
/// lazy at any time. Ticks come on top. What
/// runs where does not depend on the era: every machine gets the same operations.
std::vector<Op> wandering_threads() {
  std::mt19937 random(kSeed);
  const auto below = [&](u32 end) { return static_cast<u32>(random() % end); };
  std::vector<MmId> runs(kNrCpus, kInitMm);  // by CPU; kInitMm: nothing
  std::vector<MmId> ran(kNrCpus, 1);         // what a lazy CPU may come back to
  std::vector<Op> ops;
  ops.reserve(kNrOps + kNrOps / kOpsPerTick);
  const auto busy_cpu = [&] {
    for (;;)
      if (const Cpu cpu = below(kNrCpus); runs[cpu] != kInitMm) return cpu;
  };
  for (Cpu cpu = 0; cpu < kNrCpus; ++cpu) {
    runs[cpu] = ran[cpu] = 1 + cpu % kNrMms;
    ops.push_back({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = runs[cpu]});
  }
  while (ops.size() < kNrOps) {
    if (ops.size() % kOpsPerTick == 0) ops.push_back({.kind = OpKind::kTick, .jiffies = 1});
    const u32 dice = below(100);
    if (dice < 40) {
      const Cpu cpu = below(kNrCpus);
      const bool comes_back = runs[cpu] == kInitMm && below(2) == 0;
      runs[cpu] = ran[cpu] = comes_back ? ran[cpu] : 1 + below(kNrMms);
      ops.push_back({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = runs[cpu]});
    } else if (dice < 60) {
      const Cpu cpu = busy_cpu();
      runs[cpu] = kInitMm;
      ops.push_back({.kind = OpKind::kEnterLazy, .cpu = cpu});
    } else if (dice < 90) {
      ops.push_back({.kind = OpKind::kTouch, .cpu = busy_cpu()});
    } else {
      const Cpu cpu = busy_cpu();
      const u64 start = kHeap + u64{below(1024)} * kPageSize;
      ops.push_back({.kind = OpKind::kFlushMmRange,
                     .cpu = cpu,
                     .mm = runs[cpu],
                     .start = start,
                     .end = start + u64{1 + below(8)} * kPageSize});
    }
  }
  return ops;
}

/// Operations a second. One machine runs the list over and over.
void simulation(benchmark::State& state, const Rules& rules, bool hyperv) {
  const std::vector<Op> ops = wandering_threads();
  Machine m(machine(hyperv), rules);
  for (u32 mm = 0; mm < kNrMms; ++mm) m.apply({.kind = OpKind::kNewMm});
  for (auto _ : state)
    for (const Op& op : ops)
      if (m.apply(op) != OpError::kNone) state.SkipWithError("an operation was refused");
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(ops.size()));
  if (m.nr_violations() != 0) state.SkipWithError("a property is broken");
}

/// Counts the CPUs that flushes reach, by hypercall, IPI or locally.
class CountTargets final : public Observer {
 public:
  explicit CountTargets(const Guest& guest) : guest_(guest) {}
  u64 reached = 0;

  void flushed_locally(Cpu, const FlushTlbInfo&) override { ++reached; }
  void sent_natively(Cpu, const CpuMask& targets, const FlushTlbInfo&) override {
    reached += targets.count();
  }
  void called(Cpu, u64, std::span<const u64>, const HostEffect& effect) override {
    reached += effect.all_vps ? guest_.nr_cpus : effect.vps.size();
  }

 private:
  const Guest& guest_;
};

/// The regression: a process has visited every CPU and loops over two mprotect() and a write.
void regression(benchmark::State& state, const Rules& rules) {
  Machine m(machine(true), rules);
  m.apply({.kind = OpKind::kNewMm});
  m.apply({.kind = OpKind::kNewMm});
  const MmId other = m.last_new_mm();
  const MmId mm = other - 1;
  // The other CPUs are busy with another process: nobody is lazy, and all bits stay.
  for (Cpu cpu = 0; cpu < kNrCpus; ++cpu) {
    m.apply({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = mm});
    m.apply({.kind = OpKind::kSwitchMm, .cpu = cpu, .mm = other});
  }
  m.apply({.kind = OpKind::kSwitchMm, .cpu = 0, .mm = mm});
  const Op flush{.kind = OpKind::kFlushMmRange, .mm = mm, .start = kHeap, .end = kHeap + kPageSize};
  const Op touch{.kind = OpKind::kTouch};
  CountTargets count(m.guest());
  m.observe(&count);
  for (auto _ : state) {
    m.apply(flush);
    m.apply(flush);
    m.apply(touch);
  }
  if (m.nr_violations() != 0) state.SkipWithError("a property is broken");
  state.SetItemsProcessed(static_cast<i64>(count.reached));
  state.counters["CPUs reached"] =
      benchmark::Counter(static_cast<double>(count.reached), benchmark::Counter::kAvgIterations);
  state.counters["time per CPU"] =
      benchmark::Counter(static_cast<double>(count.reached),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void register_simulation(const char* path, std::string_view era, bool hyperv) {
  benchmark::RegisterBenchmark(("simulation/" + std::string(path) + "/" + std::string(era)).c_str(),
                               simulation, find_era(era)->rules, hyperv)
      ->Unit(benchmark::kMillisecond);
}

const bool kRegistered = [] {
  register_simulation("hyperv", "filtered", true);
  register_simulation("hyperv", "v6.17.5", true);
  register_simulation("native", "v6.12.117", false);
  for (std::string_view era : {kEraBeforeFix, kEraWithFix})
    benchmark::RegisterBenchmark(("regression/96/" + std::string(era)).c_str(), regression,
                                 find_era(era)->rules);
  return true;
}();

}  // namespace
}  // namespace hvtlb::bench
