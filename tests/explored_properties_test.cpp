// What is judged beside P1 to P4 in every interleaving, P7 and P8, and what is measured, P5 and P6.
#include <gtest/gtest.h>

#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/search.h"

namespace hvtlb::explore {
namespace {

/// A litmus of three CPUs on Hyper-V.
Verdict searched(const std::string& rest, bool whole = false) {
  const std::string text =
      "hvtlb-litmus: 1\n"
      "machine: {cpus: 3, path: hyperv}\n"
      "processes: [A, B]\n" +
      rest;
  const auto read = read_litmus(text, "f");
  GuestSystem system(std::get<LitmusFile>(read).litmus);
  Options options;
  options.reduce = options.symmetry = !whole;
  return explore(system, options);
}

std::string broken(const Verdict& verdict) {
  return verdict.violation ? to_string(*verdict.violation) : "holds";
}

const std::string kBothRunA = "before: [run A on 0, run A on 1]\n";

TEST(P7, BytesThatReachBehindThePageAreFound) {
  const std::string program = "cpus: {0: flush A 0x0 0x240000000 stride 30}\n";
  EXPECT_EQ(broken(searched("rules: {era: v6.4, set: {hv_list_capacity: boolean}}\n" + kBothRunA +
                            program)),
            "P7 (wire): CPU 0, mm 1: the input is 4104 bytes long, a page holds 4096");
  EXPECT_EQ(broken(searched("rules: {era: v6.4}\n" + kBothRunA + program)), "holds");
}

TEST(P8, AFlushThatReturnsBeforeItsEffectIsFound) {
  const std::string program = "cpus: {0: mprotect A 1 page}\n";
  EXPECT_EQ(broken(searched(kBothRunA + "hypercalls: {return: early}\n" + program)),
            "P8 (completion): CPU 1, mm 1: the flush of CPU 0 has returned, and it has not taken "
            "effect here");
  EXPECT_EQ(broken(searched(kBothRunA + program)), "holds");
}

/// CPU 1 has left B, whose mask keeps its bit; CPUs 0 and 2 flush.
std::string stale_bit(const std::string& era, const std::string& then = {}) {
  return "rules: {era: " + era +
         "}\n"
         "before: [run B on 0, run B on 1, run A on 1, run B on 2" +
         then +
         "]\n"
         "cpus: {0: mprotect B 1 page, 2: mprotect B 1 page}\n";
}

TEST(Measured, AStaleBitIsReachedBeforeTheFixAndNotBehindIt) {
  EXPECT_EQ(searched(stale_bit("v6.14")).measured, (Measured{.stale_reached = 1}));
  EXPECT_EQ(searched(stale_bit("filtered")).measured, Measured{});
}

TEST(Measured, ATrimRoundLeavesTheBitBeforeTheFixAndNotBehindIt) {
  const std::string later = ", tick 2000";
  EXPECT_EQ(searched(stale_bit("v6.14", later)).measured,
            (Measured{.stale_reached = 1, .left_in_mask = 1}));
  EXPECT_EQ(searched(stale_bit("filtered", later)).measured, Measured{});
}

TEST(Measured, ALazyCpuIsReachedWhereNobodyAsks) {
  const std::string program =
      "before: [run B on 0, run B on 1, idle on 1]\n"
      "cpus: {0: mprotect B 1 page}\n";
  EXPECT_EQ(searched("rules: {era: v6.1}\n" + program).measured, (Measured{.lazy_reached = 1}));
  EXPECT_EQ(searched("rules: {era: v6.4}\n" + program).measured, Measured{});
}

TEST(Measured, AllProcessorsSweepInWhoeverIsNotInTheMask) {
  const std::string program =
      "before: [run B on 0, run B on 1, run B on 2]\n"
      "cpus: {0: mprotect B 1 page, 1: run A}\n";
  EXPECT_EQ(searched("rules: {era: v6.4}\n" + program).measured, (Measured{.swept_in = 1}));
}

TEST(Measured, TheSameWithoutReductionAndSymmetry) {
  for (const std::string era : {"v6.4", "v6.14", "v6.17.5", "filtered"})
    for (const std::string later : {"", ", tick 2000"}) {
      const std::string text = stale_bit(era, later);
      EXPECT_EQ(searched(text).measured, searched(text, true).measured) << era << later;
    }
}

}  // namespace
}  // namespace hvtlb::explore
