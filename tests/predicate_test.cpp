// The native predicate of every era, the trim question, the transition test.
#include "flush/predicate.h"

#include <gtest/gtest.h>

#include "model/eras.h"
#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

class Predicate : public testing::Test {
 protected:
  Predicate() : guest_(test::native(2)), mem_(guest_) {
    guest_.new_mm();
    guest_.new_mm();
    info_.mm = 1;
    info_.has_mm = true;
  }
  bool ask(const Era& era, u64 loaded, bool lazy) {
    guest_.cpu_tlbstate_shared[1] = {loaded, lazy ? u64{1} : u64{0}};
    Kernel<test::TracePolicy> k{guest_, era.rules, mem_};
    return should_flush_tlb(k, 0, 1, info_);
  }
  static bool only_not_lazy(const Era& era) { return era.name == "v6.1" || era.name == "v6.4"; }
  static bool sees_switching(const Era& era) {
    return !only_not_lazy(era) && era.name != "v6.1.129" && era.name != "v6.14";
  }

  Guest guest_;
  test::TracePolicy mem_;
  FlushTlbInfo info_;
};

TEST_F(Predicate, ALazyCpuIsNeverTargeted) {
  for (const Era& era : eras())
    for (u64 loaded : {u64{0}, u64{1}, u64{2}, kLoadedMmSwitching})
      for (bool trim : {false, true}) {
        info_.trim_cpumask = trim;
        EXPECT_FALSE(ask(era, loaded, true)) << era.name;
      }
}

TEST_F(Predicate, TheMmLoaded) {
  for (const Era& era : eras()) EXPECT_TRUE(ask(era, 1, false)) << era.name;
}

TEST_F(Predicate, AnotherMmOrInitMmLoaded) {
  for (const Era& era : eras())
    for (u64 loaded : {u64{0}, u64{2}}) {
      info_.trim_cpumask = false;
      EXPECT_EQ(ask(era, loaded, false), only_not_lazy(era)) << era.name;
      info_.trim_cpumask = true;
      EXPECT_TRUE(ask(era, loaded, false)) << era.name;
    }
}

TEST_F(Predicate, Switching) {
  for (const Era& era : eras()) {
    info_.trim_cpumask = false;
    EXPECT_EQ(ask(era, kLoadedMmSwitching, false), only_not_lazy(era) || sees_switching(era))
        << era.name;
    info_.trim_cpumask = true;
    EXPECT_TRUE(ask(era, kLoadedMmSwitching, false)) << era.name;
  }
}

TEST_F(Predicate, NoMm) {
  info_.has_mm = false;
  info_.mm = kInitMm;
  for (const Era& era : eras())
    for (u64 loaded : {u64{0}, u64{2}, kLoadedMmSwitching})
      EXPECT_TRUE(ask(era, loaded, false)) << era.name;
}

TEST_F(Predicate, LoadedMmIsReadBeforeIsLazy) {
  for (const Era& era : eras()) {
    mem_.steps.clear();
    ask(era, 1, false);
    EXPECT_EQ(mem_.text(), "load loaded1; load lazy1") << era.name;
  }
}

TEST_F(Predicate, ATrimRoundIsDueStrictlyAfterItsTime) {
  Kernel<test::TracePolicy> k{guest_, test::rules_of("v6.17.5"), mem_};
  Mm& mm = guest_.mm(1);
  mm.next_trim_cpumask = 1000;
  for (u64 now : {999u, 1000u}) {
    guest_.jiffies = now;
    EXPECT_FALSE(should_trim_cpumask(k, 0, mm));
    EXPECT_EQ(mm.next_trim_cpumask, 1000u);
  }
  guest_.jiffies = 1001;
  EXPECT_TRUE(should_trim_cpumask(k, 0, mm));
  EXPECT_EQ(mm.next_trim_cpumask, 1001u + guest_.hz) << "from now, not from the round that was due";
  EXPECT_FALSE(should_trim_cpumask(k, 0, mm));
}

TEST_F(Predicate, JiffiesWrap) {
  Kernel<test::TracePolicy> k{guest_, test::rules_of("v6.17.5"), mem_};
  Mm& mm = guest_.mm(1);
  mm.next_trim_cpumask = ~u64{0} - 1;
  guest_.jiffies = 5;
  EXPECT_TRUE(should_trim_cpumask(k, 0, mm));
  EXPECT_EQ(mm.next_trim_cpumask, 5 + guest_.hz);
}

TEST_F(Predicate, TransitionNeedsAnMmAndAnEraThatKnowsIt) {
  guest_.invlpgb = true;
  guest_.mm(1).asid_transition = 1;
  for (const Era& era : eras()) {
    Kernel<test::TracePolicy> k{guest_, era.rules, mem_};
    info_.has_mm = true;
    EXPECT_EQ(mm_in_asid_transition(k, 0, info_), era.rules.global_asid);
    info_.has_mm = false;
    EXPECT_FALSE(mm_in_asid_transition(k, 0, info_));
  }
}

}  // namespace
}  // namespace hvtlb
