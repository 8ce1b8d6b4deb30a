// How fast the explorer searches: small litmuses, the one with three CPUs that has to be exhausted
// within ten seconds (exit code 1: it was not), and its set of states beside a yardstick. Processor
// time. Without arguments: everything, half a minute; `--quick`: without the three CPUs.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <random>
#include <string_view>

#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/search.h"
#include "explore/visited.h"
#include "zoo/scenarios.h"

namespace hvtlb::bench {
namespace {

using namespace hvtlb::explore;

constexpr double kInsertYardstick = 6e6;  // a second, of a flat set of 128-bit keys
constexpr double kThreeCpuGoal = 10;      // seconds
constexpr double kLeastSeconds = 0.3;     // that a litmus is searched for, again and again
constexpr u32 kInserts = 4'000'000;

constexpr std::string_view kSmall[] = {"switch-native", "lazy-other",   "two-flushers-native",
                                       "two-flushers",  "batch-native", "temporary"};

/// Two CPUs flush what the third switches to. Arguments: the path, the era.
constexpr std::string_view kThreeCpus = R"yaml(hvtlb-litmus: 1
name: two flushes and a switch ({1}, {0})
machine: {{cpus: 3, path: {0}}}
rules: {{era: {1}}}
processes: [A, B]
before: [run B on 0, run B on 2, run B on 1, run A on 1]
cpus: {{0: mprotect B 1 page, 1: run B, 2: mprotect B 1 page}}
)yaml";

/// Of this process on a processor: others that share the machine do not count.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Searches until kLeastSeconds are over; the fastest time counts.
bool measure(const std::string& text, std::string_view name, double goal) {
  const auto read = read_litmus(text, std::string(name));
  const Litmus& litmus = std::get<LitmusFile>(read).litmus;
  bool reached = true;
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    double best = 0;
    Statistics seen;
    const double begin = cpu_seconds();
    do {
      const double before = cpu_seconds();
      GuestSystem system(litmus);
      Options options;
      options.model = model;
      const Verdict verdict = explore::explore(system, options);
      if (verdict.end != End::kExhausted) {
        fmt::print(stderr, "{}: not exhausted\n", name);
        return false;
      }
      seen = verdict.statistics;
      const double seconds = cpu_seconds() - before;
      best = best == 0 ? seconds : std::min(best, seconds);
    } while (cpu_seconds() - begin < kLeastSeconds);
    std::string judged;
    if (goal != 0) judged = fmt::format("{:.2f} of {} s", best / goal, goal);
    fmt::print("{:66} {:3} {:>9} states {:>8} executions {:9.4f} s {:>9.0f} states/s  {}\n",
               litmus.name, model == MemoryModel::kSc ? "sc" : "tso", seen.states, seen.executions,
               best, static_cast<double>(seen.states) / best, judged);
    reached &= goal == 0 || best <= goal;
  }
  return reached;
}

/// A second's inserts of random states, growing the set from nothing.
void measure_set() {
  std::mt19937_64 random(1);
  std::vector<StateHash> hashes(kInserts);
  for (StateHash& hash : hashes) hash = {random(), random()};
  const double begin = cpu_seconds();
  Visited visited;
  for (const StateHash& hash : hashes) visited.insert(hash);
  const double rate = static_cast<double>(visited.size()) / (cpu_seconds() - begin);
  fmt::print("set of states, {} inserts: {:.1f} M/s, {:.2f} of the yardstick of {:.0f} M/s\n",
             kInserts, rate / 1e6, rate / kInsertYardstick, kInsertYardstick / 1e6);
}

int run(bool quick) {
  measure_set();
  bool reached = true;
  for (const std::string_view name : kSmall)
    reached &= measure(std::string(zoo::litmus_text(name)), name, 0);
  if (!quick)
    for (const auto& [path, era] :
         {std::pair("native", "v6.17.5"), std::pair("hyperv", "filtered")})
      reached &= measure(fmt::format(kThreeCpus, path, era), "three CPUs", kThreeCpuGoal);
  return reached ? 0 : 1;
}

}  // namespace
}  // namespace hvtlb::bench

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  if (argc > 1 && !quick) {
    fmt::print(stderr, "found '{}', expected --quick or nothing\n", argv[1]);
    return 1;
  }
  return hvtlb::bench::run(quick);
}
