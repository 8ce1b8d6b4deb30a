// What one flush did: needed, native and sent, and the class of every CPU too many.
#include "flush/recorder.h"

#include <gtest/gtest.h>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::native;
using test::word_of;

u64 excess(const FlushRecord& record, Excess which) {
  return word_of(record.excess[static_cast<u32>(which)]);
}

/// CPU 0 flushes; 1 runs the mm; 2 is lazy on it; 3 runs another mm; 4 is on init_mm; 5 is offline.
/// All have their bits in the mask; 6 never ran it.
class Recorder : public testing::Test {
 protected:
  static void fill(Box& box) {
    const MmId mm = box.mm();
    const MmId other = box.mm();
    for (Cpu cpu = 0; cpu < 6; ++cpu) box.run(cpu, mm);
    box.lazy(2);
    box.run(3, other);
    box.leave(4);
    box.offline(5);
  }
};

TEST_F(Recorder, BeforeTheFixOneCallReachesTheStaleTheOfflineAndItself) {
  Box box("v6.17.5", hyperv(7));
  fill(box);
  box.flush(0, 1);
  const FlushRecord& r = box.last();
  EXPECT_EQ(r.outcome, Outcome::kHypercall);
  EXPECT_EQ(word_of(r.mask), 0b0111111u);
  EXPECT_EQ(word_of(r.needed), 0b0000011u);
  EXPECT_EQ(word_of(r.native), 0b0000011u);
  EXPECT_EQ(word_of(r.sent), 0b0111011u);
  EXPECT_EQ(excess(r, Excess::kOffline), 0b0100000u);
  EXPECT_EQ(excess(r, Excess::kStale), 0b0011000u);
  EXPECT_EQ(excess(r, Excess::kSelf), 0u) << "the initiator had an old translation";
  EXPECT_EQ(excess(r, Excess::kLazy), 0u);
  EXPECT_EQ(r.nr_excess(), 3u);
  EXPECT_EQ(r.nr_ipis(), 0u);
  EXPECT_TRUE(r.missed().none());
  EXPECT_FALSE(r.swept_by_all);
  ASSERT_EQ(r.hypercalls.size(), 1u);
  EXPECT_EQ(r.hypercalls[0].control, 0x1'0000'0003u);
  EXPECT_EQ(r.hypercalls[0].input, (std::vector<u64>{0x100000, 0, 0b0111011, kVa}));
}

TEST_F(Recorder, FreedTablesNeedTheLazyCpuAsWell) {
  Box box("filtered", hyperv(7));
  fill(box);
  box.flush_freed(0, 1);
  const FlushRecord& r = box.last();
  EXPECT_EQ(word_of(r.needed), 0b0000111u);
  EXPECT_EQ(word_of(r.native), 0b0011111u) << "every online CPU of the mask";
  EXPECT_EQ(word_of(r.sent), 0b0111111u);
}

TEST_F(Recorder, TheFixReachesExactlyTheNativeSet) {
  Box box("filtered", hyperv(7));
  fill(box);
  box.flush(0, 1);
  EXPECT_EQ(word_of(box.last().sent), 0b0000011u);
  EXPECT_EQ(box.last().nr_excess(), 0u);
}

TEST_F(Recorder, ATrimRoundIsMarkedAndItsIpisAreCounted) {
  Box box("filtered", hyperv(7));
  fill(box);
  box.tick(1000);
  box.flush(0, 1);
  const FlushRecord& r = box.last();
  EXPECT_EQ(r.outcome, Outcome::kNative);
  EXPECT_TRUE(r.trim);
  EXPECT_TRUE(r.request.trim_cpumask);
  EXPECT_EQ(word_of(r.native), 0b0011011u);
  EXPECT_EQ(word_of(r.sent), 0b0011011u);
  EXPECT_EQ(r.nr_ipis(), 3u);
  EXPECT_EQ(excess(r, Excess::kStale), 0b0011000u);
}

TEST_F(Recorder, AnImmediateTrimIsMarkedInTheRecordAndNotInTheRequest) {
  Box box("filtered", hyperv(4));
  const MmId mm = box.mm();
  box.run(1, mm);
  box.leave(1);
  box.run(0, mm);
  box.flush(0, mm);
  EXPECT_TRUE(box.last().trim);
  EXPECT_FALSE(box.last().request.trim_cpumask);
  EXPECT_EQ(word_of(box.last().native), 1u);
  EXPECT_EQ(word_of(box.last().sent), 0b11u);
}

TEST_F(Recorder, AllProcessorsSweepsLazyCpus) {
  Box box("v6.17.5", hyperv(3));
  const MmId mm = box.mm();
  for (Cpu cpu = 0; cpu < 3; ++cpu) box.run(cpu, mm);
  box.lazy(2);
  box.flush(0, mm);
  EXPECT_TRUE(box.last().swept_by_all);
  EXPECT_EQ(word_of(box.last().sent), 0b111u);
  EXPECT_EQ(excess(box.last(), Excess::kLazy), 0b100u);
}

TEST_F(Recorder, SelfIsExcessWhenItHoldsNothingOld) {
  Box box("v6.17.5", native(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.flush(0, mm);
  // Nothing changed since: only the request is repeated.
  Kernel<SequentialPolicy> k = box.machine.kernel();
  flush_tlb_mm_range(k, 0, mm, kVa, kVa + kPageSize, kPageShift, false);
  EXPECT_TRUE(box.last().needed.none());
  EXPECT_EQ(excess(box.last(), Excess::kSelf), 0b01u);
  EXPECT_EQ(excess(box.last(), Excess::kStale), 0b10u);
}

TEST_F(Recorder, SwitchingIsAClassOfItsOwn) {
  Box box("v6.4", hyperv(4));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.leave(1);
  box.machine.guest().mm(mm).cpumask[0] = 3;
  box.machine.guest().cpu_tlbstate_shared[1].loaded_mm = kLoadedMmSwitching;
  box.flush(0, mm);
  EXPECT_EQ(excess(box.last(), Excess::kSwitching), 0b10u);
}

TEST_F(Recorder, AnOfflineCpuNeedsNothing) {
  Box box("v6.17.5", hyperv(3));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.machine.guest().cpu_online_mask[0] &= ~u64{0b10};
  box.flush_freed(0, mm);
  EXPECT_EQ(word_of(box.last().needed), 0b01u);
  EXPECT_EQ(excess(box.last(), Excess::kOffline), 0b10u);
}

TEST_F(Recorder, LocalAndNone) {
  Box box("v6.17.5", hyperv(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.flush(0, mm);
  EXPECT_EQ(box.last().outcome, Outcome::kLocal);
  EXPECT_EQ(word_of(box.last().sent), 1u);
  box.leave(0);
  box.flush(0, mm);
  EXPECT_EQ(box.last().outcome, Outcome::kNone);
  EXPECT_TRUE(box.last().sent.none());
}

TEST_F(Recorder, AFallbackIsMarked) {
  NamedTargetsHost host;
  host.status = 5;
  Box box("v6.17.5", hyperv(3), &host);
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.flush(0, mm);
  EXPECT_TRUE(box.last().fell_back);
  EXPECT_EQ(box.last().outcome, Outcome::kNative);
  EXPECT_EQ(box.last().hypercalls.size(), 1u);
  EXPECT_EQ(box.last().nr_ipis(), 1u);
}

TEST_F(Recorder, ABatchNeedsWhoMayHoldItsPages) {
  Box box("v6.17.5", hyperv(5));
  const MmId a = box.mm();
  const MmId b = box.mm();
  box.run(0, a);
  box.run(1, a);
  box.run(2, b);
  box.run(3, b);
  box.lazy(3);
  box.batch_add(a);
  box.batch_add(b);
  box.flush(0, a);  // CPUs 0 and 1 are clean again
  box.batch_flush(0);
  EXPECT_EQ(word_of(box.last().needed), 0b0100u);
  EXPECT_EQ(word_of(box.last().sent), 0b0111u);
}

TEST(RecorderNames, AreTheSpecifications) {
  EXPECT_EQ(name_of(Outcome::kHypercall), "hypercall");
  EXPECT_EQ(name_of(Outcome::kNone), "none");
  EXPECT_EQ(name_of(Outcome::kLocal), "local");
  EXPECT_EQ(name_of(Outcome::kNative), "native");
  EXPECT_EQ(name_of(Excess::kOffline), "offline");
  EXPECT_EQ(name_of(Excess::kSelf), "self");
  EXPECT_EQ(name_of(Excess::kSwitching), "switching");
  EXPECT_EQ(name_of(Excess::kLazy), "lazy");
  EXPECT_EQ(name_of(Excess::kStale), "stale");
}

TEST(RecorderMemory, ARecordHasNothingOfTheOneBefore) {
  NamedTargetsHost host;
  Box box("v6.4", test::hyperv(2), &host);
  const MmId a = box.mm();
  const MmId b = box.mm();
  box.run(0, a), box.run(1, a);
  host.status = 5;
  box.flush(0, a);
  EXPECT_TRUE(box.last().fell_back);
  EXPECT_TRUE(box.last().swept_by_all);
  EXPECT_EQ(box.last().hypercalls.size(), 1u);
  EXPECT_EQ(box.last().nr_ipis(), 1u);
  box.run(0, b);
  box.flush(0, b);
  const FlushRecord& last = box.last();
  EXPECT_FALSE(last.fell_back || last.swept_by_all || last.trim);
  EXPECT_EQ(last.outcome, Outcome::kLocal);
  EXPECT_TRUE(last.hypercalls.empty());
  EXPECT_EQ(test::word_of(last.mask), 0b01u);
  EXPECT_EQ(test::word_of(last.sent), 0b01u);
  EXPECT_EQ(last.nr_ipis() + last.nr_excess(), 0u);
  for (const CpuMask& excess : last.excess) EXPECT_TRUE(excess.none());
}

TEST_F(Recorder, AFailedCallMayHaveReachedSomebodyBeforeTheNativePathGoesOn) {
  class Host final : public HypercallHost {
    void call(u64, std::span<const u64>, HostEffect& effect) override {
      effect.result = hv::kStatusInvalidParameter;
      effect.vps = {3};
    }
  } host;
  Box box(test::rules_of("v6.17.5"), hyperv(7), &host);
  fill(box);
  box.flush(0, 1);
  EXPECT_EQ(box.last().outcome, Outcome::kNative);
  EXPECT_TRUE(box.last().fell_back);
  EXPECT_EQ(word_of(box.last().sent), 0b1011u);
}

}  // namespace
}  // namespace hvtlb
