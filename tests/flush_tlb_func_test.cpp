// flush_tlb_func(): the six steps of the handler.
#include "model/flush_tlb_func.h"

#include <gtest/gtest.h>

#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

/// CPU 0 runs mm 1 in slot 1; mm 2 is another.
class FlushTlbFunc : public testing::Test {
 protected:
  FlushTlbFunc() : guest_(test::native(2)), mem_(guest_) {
    guest_.new_mm();
    guest_.new_mm();
    Kernel<test::TracePolicy> k{guest_, test::rules_of("v6.17.5"), mem_};
    switch_mm(k, 0, 1);
  }

  std::string handle(std::string_view era, const FlushTlbInfo& info) {
    mem_.steps.clear();
    guest_.cpu_tlbstate[0].irqs_off = 1;
    Kernel<test::TracePolicy> k{guest_, test::rules_of(era), mem_};
    flush_tlb_func(k, 0, info);
    guest_.cpu_tlbstate[0].irqs_off = 0;
    return mem_.text();
  }
  static FlushTlbInfo request(MmId mm, u64 gen, u64 pages, Cpu from = 1) {
    FlushTlbInfo info;
    info.mm = mm;
    info.has_mm = true;
    info.new_tlb_gen = gen;
    info.initiating_cpu = from;
    info.start = test::kVa;
    info.end = pages == 0 ? kTlbFlushAll : test::kVa + pages * kPageSize;
    return info;
  }
  u64& slot_gen() { return guest_.cpu_tlbstate[0].ctxs[1].tlb_gen; }
  u64& mm_gen() { return guest_.mm(1).tlb_gen; }

  Guest guest_;
  test::TracePolicy mem_;
};

TEST_F(FlushTlbFunc, Step1EagerErasIgnoreAForeignMmFromElsewhere) {
  guest_.mm(2).cpumask[0] = 1;
  mm_gen() = 1;
  EXPECT_EQ(handle("v6.1", request(2, 1, 0)), "load loaded0");
  EXPECT_EQ(handle("v6.12.117", request(2, 1, 0)), "load loaded0");
  EXPECT_EQ(guest_.mm(2).cpumask[0], 1u);
}

TEST_F(FlushTlbFunc, Step1EagerErasTrustALocalInitiatorToRunTheMm) {
  mm_gen() = 1;
  EXPECT_EQ(handle("v6.1", request(2, 1, 0, 0)),
            "load loaded0; load lazy0; load gen1; cr3 0x100002 flush");
}

TEST_F(FlushTlbFunc, Step1LazyBitErasClearTheirOwnBitLocalOrRemote) {
  for (const char* era : {"v6.14", "v6.14.7", "v6.15", "v6.17.5", "filtered"})
    for (Cpu from : {Cpu{0}, Cpu{1}}) {
      guest_.mm(2).cpumask[0] = 3;
      mm_gen() = 1;
      EXPECT_EQ(handle(era, request(2, 1, 0, from)), "load loaded0; locked and mask2") << era;
      EXPECT_EQ(guest_.mm(2).cpumask[0], 2u);
    }
}

TEST_F(FlushTlbFunc, Step2InitMmHasNothingToFlush) {
  Kernel<test::TracePolicy> k{guest_, test::rules_of("v6.17.5"), mem_};
  switch_mm(k, 0, kInitMm);
  FlushTlbInfo batch;
  batch.initiating_cpu = 1;
  EXPECT_EQ(handle("v6.1", batch), "load loaded0");
  EXPECT_EQ(handle("v6.17.5", batch), "load loaded0");
}

TEST_F(FlushTlbFunc, Step3ALazyCpuLeavesForInitMm) {
  guest_.cpu_tlbstate_shared[0].is_lazy = 1;
  mm_gen() = 1;
  EXPECT_EQ(handle("v6.1", request(1, 1, 1)),
            "load loaded0; load lazy0; load loaded0; load lazy0; store lazy0 0; locked and mask1; "
            "load gen0; store loaded0 SWITCHING; cr3 0x1001 keep; store loaded0 0");
  EXPECT_EQ(slot_gen(), 0u);
}

TEST_F(FlushTlbFunc, Step4AnOldRequestIsDoneAlready) {
  mm_gen() = 5;
  slot_gen() = 3;
  EXPECT_EQ(handle("v6.1", request(1, 3, 1)), "load loaded0; load lazy0");
  EXPECT_EQ(handle("v6.1", request(1, 2, 0)), "load loaded0; load lazy0");
  EXPECT_EQ(slot_gen(), 3u);
}

TEST_F(FlushTlbFunc, Step5ABatchOnAnUpToDateSlotDoesNothing) {
  mm_gen() = 5;
  slot_gen() = 5;
  FlushTlbInfo batch;
  batch.initiating_cpu = 1;
  EXPECT_EQ(handle("v6.1", batch), "load loaded0; load lazy0; load gen1");
  slot_gen() = 4;
  EXPECT_EQ(handle("v6.1", batch), "load loaded0; load lazy0; load gen1; cr3 0x100002 flush");
  EXPECT_EQ(slot_gen(), 5u);
}

TEST_F(FlushTlbFunc, Step6ARangeIsInvalidatedPageByPageWhenItIsTheOnlyOneMissing) {
  mm_gen() = 5;
  slot_gen() = 4;
  EXPECT_EQ(handle("v6.1", request(1, 5, 2)),
            "load loaded0; load lazy0; load gen1; invlpg 0x7f0000000000/12; "
            "invlpg 0x7f0000001000/12");
  EXPECT_EQ(slot_gen(), 5u);
}

TEST_F(FlushTlbFunc, Step6OtherwiseTheWholeAsidIsFlushed) {
  const std::string whole = "load loaded0; load lazy0; load gen1; cr3 0x100002 flush";
  mm_gen() = 5;
  slot_gen() = 3;
  EXPECT_EQ(handle("v6.1", request(1, 5, 2)), whole) << "one was overtaken";
  EXPECT_EQ(slot_gen(), 5u);
  slot_gen() = 3;
  EXPECT_EQ(handle("v6.1", request(1, 4, 2)), whole) << "a newer one is on its way";
  EXPECT_EQ(slot_gen(), 5u);
  slot_gen() = 4;
  EXPECT_EQ(handle("v6.1", request(1, 5, 0)), whole) << "not a range";
  EXPECT_EQ(slot_gen(), 5u);
}

TEST_F(FlushTlbFunc, StridesAndTheTopOfTheAddressSpace) {
  mm_gen() = 1;
  FlushTlbInfo info = request(1, 1, 1);
  info.stride_shift = 21;
  info.end = info.start + 0x400000;
  EXPECT_EQ(handle("v6.1", info),
            "load loaded0; load lazy0; load gen1; invlpg 0x7f0000000000/21; "
            "invlpg 0x7f0000200000/21");
  slot_gen() = 0;
  info.stride_shift = 12;
  info.start = 0xfffffffffffff000;
  info.end = 0xfffffffffffffffe;
  EXPECT_EQ(handle("v6.1", info),
            "load loaded0; load lazy0; load gen1; invlpg 0xfffffffffffff000/12");
  slot_gen() = 0;
  info.end = info.start;
  EXPECT_EQ(handle("v6.1", info), "load loaded0; load lazy0; load gen1") << "an empty range";
  EXPECT_EQ(slot_gen(), 1u);
}

}  // namespace
}  // namespace hvtlb
