// RapidCheck's state machinery with every property checked, beside the machinery alone: 8 CPUs,
// sequences of up to 100 operations, 50 on average.
#include <benchmark/benchmark.h>

#include "proptest/run_case.h"

namespace hvtlb::bench {
namespace {

using proptest::Case;
using proptest::CaseRun;

rc::Gen<Case> cases_of_8_cpus() {
  return proptest::cases({.max_cpus = 8, .min_cpus = 8});
}

Case draw(const rc::Gen<Case>& gen, u64 n) {
  return gen(rc::Random(n), rc::kNominalSize).value();
}

/// The yardstick: a sequence is drawn and its preconditions are checked, nothing is run.
void machinery_alone(benchmark::State& state) {
  const auto gen = cases_of_8_cpus();
  u64 n = 0;
  u64 operations = 0;
  for (auto _ : state) operations += draw(gen, ++n).ops.size();
  state.SetItemsProcessed(state.iterations());
  state.counters["operations"] = static_cast<double>(operations) / static_cast<double>(n);
}

void all_properties(benchmark::State& state) {
  const auto gen = cases_of_8_cpus();
  u64 n = 0;
  for (auto _ : state) {
    const Case c = draw(gen, ++n);
    CaseRun run(c, c.era().rules, &c.era());
    for (const Op& op : c.ops) run.play(op);
    if (run.inspector.nr_unexplained() != 0) state.SkipWithError("a property is violated");
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(machinery_alone)->Name("rapidcheck/machinery-alone")->Unit(benchmark::kMicrosecond);
BENCHMARK(all_properties)->Name("rapidcheck/all-properties")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hvtlb::bench

BENCHMARK_MAIN();
