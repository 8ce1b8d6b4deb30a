// Random litmuses under random schedules: eras without a race hold in every state, and each race of
// an era or of the zoo is found. Machines that are too large to be exhausted come up as often as
// small ones. With HVTLB_RACES_TABLE=FILE the numbers of cases are written as a table.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "proptest/litmus_case.h"
#include "proptest/overlap.h"
#include "tests/sanitized.h"
#include "zoo/race.h"

namespace hvtlb::proptest {
namespace {

using explore::MemoryModel;

bool has(const LitmusCase& c, OpKind kind) {
  for (const std::vector<Op>& program : c.litmus.programs)
    for (const Op& op : program)
      if (op.kind == kind) return true;
  return false;
}

void classify(const LitmusCase& c, const Overlap& overlap, Classes& classes) {
  classes.next_case();
  overlap.add_to(classes);
  std::size_t steps = 0;
  bool freed = false;
  for (const std::vector<Op>& program : c.litmus.programs) {
    steps += program.size();
    for (const Op& op : program) freed |= op.freed_tables;
  }
  constexpr std::size_t kMany = 10;
  classes.add("more than 10 operations", steps > kMany);
  if (explore::may_free_tables(*find_era(c.era))) classes.add("freed tables", freed);
  classes.add("4 CPUs", c.litmus.machine.nr_cpus == explore::kMaxExploredCpus);
  classes.add("batches", has(c, OpKind::kBatchFlush));
  classes.add("LAM", has(c, OpKind::kEnableLam));
  classes.add("PCID off", !c.litmus.machine.pcid);
  classes.add("TSO", c.memory == MemoryModel::kTso);
}

/// The shrunk case as a file that `hvtlb explore` runs.
std::string written(const std::string& name, const LitmusCase& c) {
  std::string file = name;
  for (char& each : file)
    if (std::isalnum(static_cast<unsigned char>(each)) == 0) each = '-';
  file += ".yaml";
  std::ostringstream text;
  text << c;
  std::ofstream(file) << text.str();
  return file;
}

class Schedules : public testing::TestWithParam<std::size_t> {};

TEST_P(Schedules, HoldInEveryState) {
  const Era& era = eras()[GetParam()];
  if (!explore::holds_in_every_order(era))
    GTEST_SKIP() << "the era has a race: it has to be found below";
  Classes classes;
  std::optional<LitmusCase> failed;
  const std::string name = "schedules hold under " + std::string(era.name);
  const bool holds = rc::check(name, [&] {
    const LitmusCase c = *litmus_cases(era);
    Overlap overlap(c.litmus.machine.nr_cpus);
    const explore::ScheduleRun run = run_case(
        c, {.watch = [&](const auto& engine, auto action) { overlap.watch(engine, action); }});
    if (!failed) classify(c, overlap, classes);
    if (const auto fault = explore::fault_of(run)) {
      failed = c;  // shrinking runs this again and again; the last one is the smallest
      RC_FAIL(*fault);
    }
  });
  if (!holds)
    ADD_FAILURE() << name << ": falsified; the smallest case is in ./"
                  << (failed ? written(name, *failed) : "nothing");
  if (!holds) return;
  constexpr double kRare = 0.002;
  classes.expect_at_least(kRare);
}

INSTANTIATE_TEST_SUITE_P(Eras, Schedules, testing::Range<std::size_t>(0, eras().size()),
                         [](const auto& test) {
                           std::string name(eras()[test.param].name);
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

constexpr u32 kMostCases = 50'000;
constexpr int kMostSize = 100;  // RapidCheck's own range of sizes

struct Race {
  std::string name;
  std::string era;
  explore::Litmus like;  ///< rules, path and host
  std::string_view property;
};

/// How many cases under TSO it takes until one shows the race; 0: none did. The seed is the case's
/// number.
u32 cases_until_found(const Race& race) {
  const auto gen = litmus_cases(race.era, race.like.rules, true, race.like.machine.hyperv);
  for (u32 n = 0; n < kMostCases; ++n) {
    LitmusCase c =
        gen(rc::Random(rc::Random::Key{n, 0, 0, 0}), static_cast<int>(n) % (kMostSize + 1)).value();
    c.memory = MemoryModel::kTso;
    c.litmus.host_scope = race.like.host_scope;
    c.litmus.host_returns_early = race.like.host_returns_early;
    const explore::ScheduleRun run = run_case(c);
    if (run.violation && name_of(run.violation->property) == race.property) return n + 1;
  }
  return 0;
}

bool is_of_an_era(const explore::Litmus& litmus) {
  return !litmus.host_returns_early &&
         std::any_of(eras().begin(), eras().end(),
                     [&](const Era& era) { return era.rules == litmus.rules; });
}

std::vector<Race> races() {
  std::vector<Race> all;
  for (const Era& era : eras())
    for (const KnownFault& fault : era.known_faults)
      if (fault.interleaving) {
        Race race{
            fmt::format("{} {}", era.name, fault.zoo), std::string(era.name), {}, fault.property};
        race.like.rules = era.rules;
        race.like.machine.hyperv = fault.zoo == "Z04";
        all.push_back(std::move(race));
      }
  for (const zoo::Entry& entry : zoo::entries())
    if (entry.kind == zoo::Kind::kRace && !entry.scenario.empty()) {
      const explore::LitmusFile file = zoo::race_of(entry);
      if (file.litmus.machine.invlpgb) continue;  // no draw has global ASIDs
      if (is_of_an_era(file.litmus)) continue;    // it is there already
      all.push_back({std::string(entry.id), file.era, file.litmus, zoo::name_of(entry.sign)});
    }
  return all;
}

TEST(Races, AreFoundByRandomSchedules) {
  if (test::kSanitized) GTEST_SKIP() << "the optimised build does this";
  std::ofstream table;
  if (const char* path = std::getenv("HVTLB_RACES_TABLE")) table.open(path);
  for (const Race& race : races()) {
    const auto begin = std::chrono::steady_clock::now();
    const u32 cases = cases_until_found(race);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_NE(cases, 0u) << race.name << " was not found in " << kMostCases << " cases";
    const std::string line = fmt::format("{:15} {} {:>6} cases {:8.3f} s\n", race.name,
                                         race.property, cases, took.count());
    fmt::print("{}", line);
    table << line;
  }
}

}  // namespace
}  // namespace hvtlb::proptest
