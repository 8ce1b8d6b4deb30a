// Batched unmap: the generation before the mask, no mm, no trim, lazy CPUs skipped.
#include <gtest/gtest.h>

#include "tests/box.h"
#include "tests/trace_policy.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::native;

TEST(TlbBatch, AddMakesTheGenerationFirstAndThenTakesTheMask) {
  Guest guest(native(2));
  guest.new_mm();
  guest.mm(1).cpumask[0] = 1;
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, test::rules_of("v6.17.5"), mem};
  TlbBatch batch;
  FlushTlbInfo info;
  arch_tlbbatch_add_pending(k, 0, batch, 1, info);
  EXPECT_EQ(mem.text(), "locked add gen1; batched; load mask1");
  EXPECT_EQ(batch.cpumask, (std::vector<u64>{1}));
  guest.mm(1).cpumask[0] = 2;
  arch_tlbbatch_add_pending(k, 0, batch, 1, info);
  EXPECT_EQ(batch.cpumask, (std::vector<u64>{3})) << "masks are added up";
  EXPECT_EQ(guest.mm(1).tlb_gen, 2u);
}

TEST(TlbBatch, FlushHasNoMmNoGenerationNoRangeAndNoTrim) {
  for (const Era& era : eras()) {
    Box box(era.name, native(4));
    const MmId a = box.mm();
    const MmId b = box.mm();
    box.run(0, a);
    box.run(1, a);
    box.run(2, b);
    box.run(3, b);
    box.lazy(3);
    box.tick(1000);
    box.batch_add(a);
    box.batch_add(b);
    box.batch_flush(0);
    const FlushTlbInfo& request = box.last().request;
    EXPECT_FALSE(request.has_mm);
    EXPECT_EQ(request.new_tlb_gen, kTlbGenerationInvalid);
    EXPECT_EQ(request.end, kTlbFlushAll);
    EXPECT_FALSE(request.trim_cpumask || request.freed_tables);
    EXPECT_EQ(test::word_of(box.last().mask), 0b1111u);
    EXPECT_EQ(box.sent(), 0b0111u) << "lazy CPUs are skipped: " << era.name;
    for (Cpu cpu = 0; cpu < 3; ++cpu) EXPECT_EQ(box.slot_gen(cpu), 1u) << era.name;
    EXPECT_EQ(box.violated(), "") << era.name;
    box.run(3, b);
    box.touch(3);
    EXPECT_EQ(box.violated(), "") << "the lazy one catches up: " << era.name;
  }
}

TEST(TlbBatch, TheMaskIsEmptyAfterwards) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.batch_add(mm);
  box.batch_flush(0);
  EXPECT_TRUE(box.machine.policy().pending.empty());
  box.batch_flush(0);
  EXPECT_TRUE(box.last().mask.none());
  EXPECT_EQ(box.last().outcome, Outcome::kNone);
}

TEST(TlbBatch, LocalWhenThisCpuIsAlone) {
  for (bool on_hyperv : {false, true}) {
    Box box("v6.17.5", on_hyperv ? hyperv(2) : native(2));
    const MmId mm = box.mm();
    box.run(0, mm);
    box.batch_add(mm);
    box.batch_flush(0);
    EXPECT_EQ(box.last().outcome, Outcome::kLocal);
    EXPECT_EQ(box.slot_gen(0), 1u);
    box.batch_add(mm);
    box.batch_flush(1);
    EXPECT_NE(box.last().outcome, Outcome::kLocal) << "CPU 1 is not in the mask";
    EXPECT_EQ(box.sent(), 0b01u);
    EXPECT_EQ(box.violated(), "");
  }
}

TEST(TlbBatch, OnHypervItIsAllAddressSpacesWithoutLazyCpus) {
  for (const Era& era : eras()) {
    Box box(era.name, hyperv(4));
    const MmId mm = box.mm();
    for (Cpu cpu : {0u, 1u, 2u}) box.run(cpu, mm);
    box.lazy(2);
    box.batch_add(mm);
    box.batch_flush(0);
    ASSERT_EQ(box.last().hypercalls.size(), 1u) << era.name;
    const HypercallRecord& call = box.last().hypercalls[0];
    EXPECT_EQ(call.control, 0x2u);
    EXPECT_EQ(call.input[0], 0u);
    EXPECT_EQ(call.input[1], 2u | 4u) << "all spaces, non-global";
    const bool whole_mask = era.rules.hv_targets == HypervTargets::kWholeMask;
    EXPECT_EQ(box.sent(), whole_mask ? 0b111u : 0b011u) << era.name;
    EXPECT_EQ(box.violated(), "");
  }
}

TEST(TlbBatch, NothingPendingCountsAfterTheFlushOnly) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.batch_add(mm, kVa);
  box.touch(1);
  EXPECT_EQ(box.violated(), "") << "not flushed yet: the old translation is legal";
  box.batch_flush(0);
  box.touch(1);
  EXPECT_EQ(box.violated(), "");
}

TEST(TlbBatch, AfterTheFlushNothingIsRequired) {
  Guest guest(native(2));
  guest.new_mm();
  guest.mm(1).cpumask[0] = 1;
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, test::rules_of("v6.17.5"), mem};
  TlbBatch batch;
  FlushTlbInfo info;
  set_tlb_ubc_flush_pending(k, 0, batch, 1, info);
  EXPECT_TRUE(batch.flush_required);
  arch_tlbbatch_flush(k, 0, batch);
  mem.steps.clear();
  arch_tlbbatch_flush(k, 0, batch);
  EXPECT_EQ(mem.text(), "targets; returned");
}

TEST(TlbBatch, PendingUnmapsAreCountedAndTheirFlushIsCountedOff) {
  Guest guest(native(2));
  guest.new_mm();
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, test::rules_of("v6.17.5"), mem};
  TlbBatch batch;
  FlushTlbInfo info;
  u64& batched = guest.mm(1).tlb_flush_batched;
  flush_tlb_batched_pending(k, 0, 1);
  EXPECT_EQ(mem.text(), "load batched1") << "nothing is pending";
  set_tlb_ubc_flush_pending(k, 0, batch, 1, info);
  set_tlb_ubc_flush_pending(k, 0, batch, 1, info);
  EXPECT_EQ(batched, 2u);
  mem.steps.clear();
  flush_tlb_batched_pending(k, 1, 1);
  EXPECT_EQ(batched, 0x20002u);
  EXPECT_EQ(mem.text().find("load batched1; locked add gen1; requested; "), 0u);
  EXPECT_NE(mem.text().find("returned; cmpxchg batched1 2 131074"), std::string::npos);
  mem.before = [&](const std::string& what) {
    if (what == "requested") ++batched;  // another CPU adds one meanwhile
  };
  set_tlb_ubc_flush_pending(k, 0, batch, 1, info);
  EXPECT_EQ(batched, 0x20003u);
  flush_tlb_batched_pending(k, 1, 1);
  EXPECT_EQ(batched, 0x20004u) << "everything still has to be flushed";
}

TEST(TlbBatch, LargeCountersBeginAnew) {
  Guest guest(native(2));
  guest.new_mm();
  test::TracePolicy mem(guest);
  Kernel<test::TracePolicy> k{guest, test::rules_of("v6.17.5"), mem};
  u64& batched = guest.mm(1).tlb_flush_batched;
  batched = 0x3fff;
  count_pending(k, 0, batched);
  EXPECT_EQ(batched, 0x4000u);
  count_pending(k, 0, batched);
  EXPECT_EQ(batched, 1u);
  batched = 0x4000'4000;
  mem.before = [&](const std::string& what) {
    if (what.starts_with("cmpxchg") && batched == 0x4000'4000) batched = 0x4000'4001;
  };
  count_pending(k, 0, batched);
  EXPECT_EQ(batched, 1u) << "tried again";
}

TEST(TlbBatch, WhoReliesOnABatchFindsItFlushed) {
  for (const BatchedPending pending :
       {BatchedPending::kCounters, BatchedPending::kFlag, BatchedPending::kNothing}) {
    Rules rules = test::rules_of("v6.17.5");
    rules.batched_pending = pending;
    Box box(rules, native(2));
    const MmId a = box.mm();
    box.run(0, a), box.run(1, a);
    box.batch_add(a);
    EXPECT_EQ(box.machine.apply({.kind = OpKind::kFlushBatchedPending, .cpu = 0, .mm = a}),
              OpError::kNone);
    EXPECT_EQ(box.violated(), pending == BatchedPending::kNothing ? "P1 P1" : "");
    EXPECT_EQ(box.machine.guest().mm(a).tlb_flush_batched,
              pending == BatchedPending::kCounters ? 0x10001u : 0u);
  }
}

}  // namespace
}  // namespace hvtlb
