// Random sequences find every guest fault of the zoo, and calls made at random every host fault.
// With HVTLB_ZOO_TABLE=FILE the numbers of cases and seconds are written as a table.
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "proptest/run_case.h"
#include "zoo/host_call.h"
#include "zoo/zoo.h"

namespace hvtlb::proptest {
namespace {

constexpr u32 kMostCases = 20000;
constexpr int kMostSize = 100;  // RapidCheck's own range of sizes

/// The n-th case; the seed is its number.
Case nth_case(const rc::Gen<Case>& gen, u32 n) {
  return gen(rc::Random(rc::Random::Key{n, 0, 0, 0}), static_cast<int>(n) % (kMostSize + 1))
      .value();
}

struct Found {
  u32 cases = 0;  ///< 0: not found
  double seconds = 0;
};

Found search_guest(const zoo::Entry& entry) {
  const zoo::Pair pair = zoo::pair_of(entry);
  const auto gen = cases({.hyperv = pair.shape.hyperv, .max_cpus = 70});
  const auto begin = std::chrono::steady_clock::now();
  for (u32 n = 0; n < kMostCases; ++n) {
    if (!zoo::found_by(entry, pair, nth_case(gen, n))) continue;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {n + 1, took.count()};
  }
  return {};
}

/// Calls with the shapes that matter: few banks, both formats, short and long lists.
Found search_host(const zoo::Entry& entry) {
  const zoo::HostCall& shown = zoo::host_call_of(entry);
  const auto begin = std::chrono::steady_clock::now();
  for (u32 n = 0; n < kMostCases; ++n) {
    u64 drawn = 0;
    const auto draw = [&](u32 bound) {
      const auto gen = rc::gen::inRange(0u, bound);
      return u64{gen(rc::Random(rc::Random::Key{n, drawn++, 0, 0}), 100).value()};
    };
    static constexpr u16 kCodes[] = {0x02, 0x03, 0x13, 0x14};
    const u16 code = kCodes[draw(4)];
    const u64 reps = (code & 1) != 0 || code == 0x14 ? (code == 0x13 ? 0 : 1 + draw(20)) : 0;
    const bool ex = code >= 0x13;
    const u64 banks = ex ? draw(3) : 0;
    std::vector<u64> input{0x1000, draw(4) == 0 ? u64{1} : u64{0}};
    if (ex) {
      input.push_back(draw(2));
      input.push_back(banks == 0 ? 0 : banks == 1 ? u64{1} << draw(64) : 3);
      for (u64 bank = 0; bank < banks; ++bank) input.push_back(1 + draw(16));
    } else {
      input.push_back(1 + draw(16));
    }
    for (u64 rep = 0; rep < reps; ++rep)
      input.push_back((draw(4) == 0 ? 0x0000900000000000 : 0x00007f0000000000) + 4096 * rep);
    const u64 control = code | banks << 17 | reps << 32;
    const std::vector<u32> vps{0, 1, 2};
    const auto react = [&](const host::Faults& faults) {
      return host::decode(shown.profile, control, input_of(input), vps, 0, faults);
    };
    if (zoo::difference(react(shown.faults), react({}), vps).empty()) continue;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {n + 1, took.count()};
  }
  return {};
}

TEST(Zoo, RandomCasesFindEverySequentialEntry) {
  std::ofstream table;
  if (const char* path = std::getenv("HVTLB_ZOO_TABLE")) table.open(path);
  for (const zoo::Entry& entry : zoo::entries()) {
    if (!zoo::is_sequential(entry)) continue;
    const Found found = entry.kind == zoo::Kind::kGuest ? search_guest(entry) : search_host(entry);
    EXPECT_GT(found.cases, 0u) << entry.id << " was not found in " << kMostCases << " cases";
    fmt::print("{:13} {:10} {:>6} cases {:8.3f} s\n", entry.id, zoo::name_of(entry.sign),
               found.cases, found.seconds);
    if (table) table << fmt::format("{} {} {:.3f}\n", entry.id, found.cases, found.seconds);
  }
}

TEST(Zoo, TheScenariosShowEveryEntryAndTheCorrectedRulesAreClean) {
  for (const zoo::Entry& entry : zoo::entries()) {
    const zoo::Outcome outcome = zoo::run(entry);
    EXPECT_NE(outcome.variant, "") << entry.id;
    EXPECT_EQ(outcome.twin, "") << entry.id;
  }
}

}  // namespace
}  // namespace hvtlb::proptest
