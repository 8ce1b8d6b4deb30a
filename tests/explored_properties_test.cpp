// What is judged beside P1 to P4 in every interleaving, P7 and P8, and what is measured, P5 and P6.
#include <algorithm>
#include <gtest/gtest.h>

#include "explore/guest_system.h"
#include "explore/litmus_file.h"
#include "explore/search.h"
#include "flush/named_targets.h"
#include "model/eras.h"
#include "tests/sanitized.h"
#include "zoo/matrix.h"
#include "zoo/scenarios.h"

namespace hvtlb::explore {
namespace {

/// A litmus of three CPUs on Hyper-V.
Verdict searched(const std::string& rest, bool whole = false, const std::string& machine = {}) {
  const std::string text =
      "hvtlb-litmus: 1\n"
      "machine: {cpus: 3, path: hyperv" +
      machine +
      "}\n"
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

/// The known faults of every era's builder (Z15, Z14), in the fix as well.
TEST(P7, TheLatentFaultsOfTheErasAreFound) {
  for (const std::string era : {"v6.1", "v6.4", "v6.17.5", "filtered"}) {
    const std::string rules = "rules: {era: " + era + "}\n" + kBothRunA;
    EXPECT_EQ(broken(searched(rules + "cpus: {0: flush A 0x0 0x1fd001000 stride 30}\n")),
              "P7 (wire): CPU 0, mm 1: the input is 4104 bytes long, a page holds 4096");
    for (const std::string flush : {"mprotect A 1 page", "flush A 0x0 0x40000000 stride 12"})
      EXPECT_EQ(broken(searched(rules + "cpus: {0: " + flush + "}\n", false,
                                ", hv_max_vp_index: 4096, vp: [0, 70, 4095]")),
                "P7 (wire): CPU 0, mm 1: the set has no banks: a host that answers success flushes "
                "nobody");
  }
}

TEST(P8, AFlushThatReturnsBeforeItsEffectIsFound) {
  const std::string program = "cpus: {0: mprotect A 1 page}\n";
  EXPECT_EQ(broken(searched(kBothRunA + "hypercalls: {return: early}\n" + program)),
            "P8 (completion): CPU 1, mm 1: the flush of CPU 0 has returned, and it has not taken "
            "effect here");
  EXPECT_EQ(broken(searched(kBothRunA + program)), "holds");
}

/// CPU 0 broadcasts a flush and returns, with or without waiting for it.
class Broadcast final : public System {
 public:
  explicit Broadcast(bool waits) : waits_(waits) {}

  u32 nr_cpus() const override { return guest_.nr_cpus; }
  void attach(Engine& engine) override { policy_.attach(engine); }
  void reset() override { policy_.reset(); }
  void run(Cpu cpu) override {
    if (cpu != 0) return;
    policy_.invlpgb(cpu, {.pcid = 1});
    if (waits_) policy_.tlbsync(cpu);
    policy_.flush_returned(cpu, {});
  }
  void arrived(Cpu, u32) override {}
  void host_effect(Cpu cpu, Cpu caller) override { policy_.effect(cpu, caller); }
  void append_state(std::vector<u64>& state) const override { policy_.append_state(state); }
  std::optional<Violation> check(u32) const override { return policy_.broken(); }
  std::string name_of(const u64*) const override { return {}; }
  std::string show(const u64*, u64) const override { return {}; }

 private:
  static MachineShape two_cpus() {
    MachineShape shape;
    shape.nr_cpus = 2;
    return shape;
  }

  const bool waits_;
  Guest guest_{two_cpus()};
  Truth truth_{2};
  NamedTargetsHost host_;
  GuestPolicy policy_{guest_, truth_, host_};
};

TEST(P8, ABroadcastThatNobodyWaitsForIsFound) {
  Broadcast waits(true);
  EXPECT_EQ(broken(explore(waits, {})), "holds");
  Broadcast returns(false);
  EXPECT_EQ(broken(explore(returns, {})),
            "P8 (completion): CPU 1, mm 0: the flush of CPU 0 has returned, and it has not taken "
            "effect here");
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
  EXPECT_EQ(searched("rules: {era: v6.4}\n" + program).measured,
            (Measured{.stale_reached = 1, .swept_in = 1}));
}

TEST(Measured, WhoHasLeftSinceThenWasNotSweptIn) {
  const std::string program =
      "before: [run B on 0, run B on 1]\n"
      "cpus: {0: mprotect B 1 page, 1: run A}\n";
  EXPECT_EQ(searched("rules: {era: v6.4}\n" + program).measured, (Measured{.stale_reached = 1}));
}

/// Nobody else runs B: the builder trims at once, without a call.
TEST(Measured, AnImmediateTrimIsATrimRound) {
  const std::string program =
      "before: [run B on 0, run B on 1, run A on 1]\n"
      "cpus: {0: mprotect B 1 page}\n";
  EXPECT_EQ(searched("rules: {era: filtered}\n" + program).measured, Measured{});
  EXPECT_EQ(
      searched("rules: {era: filtered, set: {handler_foreign_mm: remote_returns}}\n" + program)
          .measured,
      (Measured{.left_in_mask = 1}));
}

TEST(Measured, TheSameWithoutReductionAndSymmetry) {
  for (const std::string era : {"v6.4", "v6.14", "v6.17.5", "filtered"})
    for (const std::string later : {"", ", tick 2000"}) {
      const std::string text = stale_bit(era, later);
      EXPECT_EQ(searched(text).measured, searched(text, true).measured) << era << later;
    }
}

/// Litmuses of the catalogue under other rules than their own, early and when it is time to trim.
class MeasuredIn : public testing::TestWithParam<std::string_view> {};

TEST_P(MeasuredIn, OtherErasTheSameWithoutReductionAndSymmetry) {
  if (test::kSanitized) GTEST_SKIP() << "the optimised build does this";
  const auto read = read_litmus(std::string(zoo::litmus_text(GetParam())), "f");
  const Litmus litmus = std::get<LitmusFile>(read).litmus;
  for (const std::string_view name : {"v6.1", "v6.14", "v6.17.5", "filtered"})
    for (const bool hyperv : {false, true})
      for (const u64 later : {u64{0}, u64{2000}}) {
        const Rules& rules = find_era(name)->rules;
        if (litmus.machine.invlpgb && !rules.global_asid) continue;
        Litmus changed = litmus;
        changed.rules = rules;
        changed.machine.hyperv = hyperv;
        Op tick;  // of kind kTick
        tick.jiffies = later;
        changed.before.push_back(tick);
        GuestSystem system(changed);
        Options options;
        const Verdict reduced = explore(system, options);
        if (reduced.end != End::kExhausted) continue;
        options.reduce = options.symmetry = false;
        EXPECT_EQ(reduced.measured, explore(system, options).measured)
            << name << (hyperv ? ", Hyper-V, " : ", native, ") << later;
      }
}

INSTANTIATE_TEST_SUITE_P(, MeasuredIn, testing::ValuesIn(zoo::situations()), [](const auto& test) {
  std::string name(test.param);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace hvtlb::explore
