// The benchmark. Without arguments: every benchmark several times in random order, so that a busy
// spell of the machine hits a decision and its scan alike, and tables of medians at the end. All
// flags of Google Benchmark work; `--benchmark_filter=/32/` is the quick look.
#include <benchmark/benchmark.h>
#include <vector>

#include "bench/ratio_table.h"

int main(int argc, char** argv) {
  // Before the user's flags: theirs come later and win.
  char repetitions[] = "--benchmark_repetitions=7";
  char interleaving[] = "--benchmark_enable_random_interleaving=true";
  char min_time[] = "--benchmark_min_time=0.02";
  std::vector<char*> args{argv[0], repetitions, interleaving, min_time};
  args.insert(args.end(), argv + 1, argv + argc);
  int nr_args = static_cast<int>(args.size());
  args.push_back(nullptr);
  benchmark::Initialize(&nr_args, args.data());
  if (benchmark::ReportUnrecognizedArguments(nr_args, args.data())) return 1;
  hvtlb::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
