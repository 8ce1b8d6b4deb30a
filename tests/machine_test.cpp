// The machine refuses what cannot happen, and a refused operation has changed nothing.
#include "scenario/machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::native;

/// Everything of the guest that an operation may change.
std::string text_of(const Guest& guest) {
  std::string text = fmt::format("{} {}", guest.jiffies, guest.nr_alive());
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) {
    const CpuTlbStateShared& shared = guest.cpu_tlbstate_shared[cpu];
    const CpuTlbState& tlb = guest.cpu_tlbstate[cpu];
    text += fmt::format("; cpu {} {} {} {} {} {}", shared.loaded_mm, shared.is_lazy,
                        tlb.loaded_mm_asid, tlb.next_asid, tlb.irqs_off, guest.online(cpu));
    for (const TlbContext& ctx : tlb.ctxs) text += fmt::format(" {}.{}", ctx.ctx_id, ctx.tlb_gen);
  }
  for (MmId id = 0; id < guest.nr_mm_slots(); ++id) {
    const Mm& mm = guest.mm(id);
    text +=
        fmt::format("; mm {} {} {} {}", mm.ctx_id, mm.tlb_gen, mm.next_trim_cpumask, mm.cpumask[0]);
  }
  return text;
}

/// CPUs 0 and 1 run mm 1, CPU 2 is inside mm 2, CPU 3 is offline; mm 3 is dropped but loaded.
class MachineTest : public testing::Test {
 protected:
  MachineTest() : box("v6.17.5", native(5)) {
    for (int i = 0; i < 3; ++i) box.mm();
    box.run(0, 1);
    box.run(1, 1);
    box.run(2, 1);
    box.use_temporary(2, 2);
    box.offline(3);
    box.run(4, 3);
    box.drop(3);
  }
  void refused(const Op& op, OpError why) {
    const std::string before = text_of(box.machine.guest());
    const std::size_t flushes = box.flushes.size();
    EXPECT_EQ(box.machine.apply(op), why) << name_of(op.kind);
    EXPECT_EQ(text_of(box.machine.guest()), before) << name_of(op.kind);
    EXPECT_EQ(box.flushes.size(), flushes) << "nor is it seen: " << name_of(op.kind);
    EXPECT_EQ(box.violated(), "");
  }

  Box box;
};

TEST_F(MachineTest, CpusThatDoNotExistOrAreOffline) {
  for (OpKind kind : {OpKind::kSwitchMm, OpKind::kEnterLazy, OpKind::kLeaveMm, OpKind::kTouch,
                      OpKind::kUseTemporaryMm, OpKind::kUnuseTemporaryMm, OpKind::kFlushMmRange,
                      OpKind::kBatchFlush, OpKind::kOffline}) {
    refused({.kind = kind, .cpu = 5, .mm = 1}, OpError::kNoSuchCpu);
    refused({.kind = kind, .cpu = 3, .mm = 1}, OpError::kCpuOffline);
  }
  refused({.kind = OpKind::kOnline, .cpu = 0}, OpError::kCpuOnline);
  refused({.kind = OpKind::kOnline, .cpu = 5}, OpError::kNoSuchCpu);
}

TEST_F(MachineTest, MmsThatDoNotExistOrHaveNoUser) {
  for (OpKind kind : {OpKind::kSwitchMm, OpKind::kUseTemporaryMm, OpKind::kFlushMmRange,
                      OpKind::kBatchAdd, OpKind::kDropMm})
    refused({.kind = kind, .mm = 9, .end = 1}, OpError::kNoSuchMm);
  for (OpKind kind :
       {OpKind::kSwitchMm, OpKind::kUseTemporaryMm, OpKind::kBatchAdd, OpKind::kDropMm})
    refused({.kind = kind, .mm = 3}, OpError::kMmDropped);
  refused({.kind = OpKind::kDropMm, .mm = kInitMm}, OpError::kNotForInitMm);
}

TEST(MachineLimits, AMachineHoldsSoManyMmsAsTheRefusalSays) {
  Machine machine(native(1), test::rules_of("v6.1"));
  for (u32 alive = 1; alive < 8192; ++alive)  // init_mm is the first
    ASSERT_EQ(machine.apply({.kind = OpKind::kNewMm}), OpError::kNone);
  EXPECT_EQ(machine.apply({.kind = OpKind::kNewMm}), OpError::kTooManyMms);
  EXPECT_EQ(message_of(OpError::kTooManyMms), "too many mms are alive (limit 8192)");
  machine.apply({.kind = OpKind::kDropMm, .mm = 77});
  EXPECT_EQ(machine.apply({.kind = OpKind::kNewMm}), OpError::kNone);
  EXPECT_EQ(machine.last_new_mm(), 77u);
}

TEST_F(MachineTest, InsideATemporaryMmNothingElseHappensOnTheCpu) {
  for (OpKind kind :
       {OpKind::kSwitchMm, OpKind::kEnterLazy, OpKind::kLeaveMm, OpKind::kUseTemporaryMm,
        OpKind::kFlushMmRange, OpKind::kBatchFlush, OpKind::kOffline})
    refused({.kind = kind, .cpu = 2, .mm = 1}, OpError::kInsideTemporaryMm);
  refused({.kind = OpKind::kUnuseTemporaryMm, .cpu = 0}, OpError::kNotInsideTemporaryMm);
  box.touch(2);
}

TEST_F(MachineTest, AFlushThatWaitsForACpuInsideATemporaryMmIsRolledBack) {
  refused({.kind = OpKind::kFlushMmRange, .mm = 2, .start = kVa, .end = kVa + 1},
          OpError::kIpiInsideTemporaryMm);
  refused({.kind = OpKind::kFlushMmRange, .freed_tables = true, .mm = 1, .start = kVa, .end = kVa},
          OpError::kIpiInsideTemporaryMm);
  box.flush(0, 1);
  EXPECT_EQ(box.sent(), 0b011u) << "CPU 2 has another mm loaded: nobody waits for it";
  box.batch_add(1);
  refused({.kind = OpKind::kBatchFlush, .cpu = 0}, OpError::kIpiInsideTemporaryMm);
  box.unuse_temporary(2);
  box.batch_flush(0);
  EXPECT_EQ(box.sent(), 0b111u) << "the batch is still there";
  EXPECT_EQ(test::word_of(box.last().needed), 0b011u) << "CPU 2 has caught up on its return";
  EXPECT_EQ(box.violated(), "");
}

TEST_F(MachineTest, StridesAreBounded) {
  refused({.kind = OpKind::kFlushMmRange, .stride_shift = 64, .mm = 1}, OpError::kStride);
}

TEST_F(MachineTest, ADroppedMmGoesWhenNoCpuHasItLoaded) {
  EXPECT_TRUE(box.machine.guest().alive(3));
  EXPECT_FALSE(box.machine.usable(3));
  box.flush(4, 3);
  box.leave(4);
  EXPECT_FALSE(box.machine.guest().alive(3));
  EXPECT_EQ(box.mm(), 3u);
  EXPECT_TRUE(box.machine.usable(3));
  EXPECT_EQ(box.violated(), "");
}

TEST_F(MachineTest, ADroppedMmWaitsForATemporaryVisitToEnd) {
  box.run(0, kInitMm);
  box.run(1, kInitMm);
  box.drop(1);
  EXPECT_TRUE(box.machine.guest().alive(1)) << "CPU 2 goes back to it";
  box.unuse_temporary(2);
  EXPECT_TRUE(box.machine.guest().alive(1));
  box.leave(2);
  EXPECT_FALSE(box.machine.guest().alive(1));
}

TEST_F(MachineTest, AHypercallReachesACpuInsideATemporaryMm) {
  Box on_hyperv("v6.17.5", hyperv(4));
  const MmId mm = on_hyperv.mm();
  const MmId poking = on_hyperv.mm();
  on_hyperv.run(0, mm);
  on_hyperv.run(1, mm);
  on_hyperv.use_temporary(1, poking);
  on_hyperv.flush_freed(0, mm);
  EXPECT_EQ(on_hyperv.sent(), 0b11u);
  on_hyperv.unuse_temporary(1);
  EXPECT_EQ(on_hyperv.violated(), "");
}

TEST(MachineOps, SequenceOfAProcess) {
  for (const Era& era : eras())
    for (bool pcid : {false, true}) {
      MachineShape shape = hyperv(3);
      shape.pcid = pcid;
      Box box(era.name, shape);
      for (int life = 0; life < 20; ++life) {
        const MmId mm = box.mm();
        box.run(0, mm);
        box.run(1, mm);
        box.flush(0, mm);
        box.lazy(1);
        box.flush_freed(0, mm);
        box.lazy(0);
        box.flush(0, mm, 0, kTlbFlushAll, true);
        box.drop(mm);
        box.run(1, kInitMm);
        box.run(0, kInitMm);
        EXPECT_FALSE(box.machine.guest().alive(mm));
      }
      EXPECT_EQ(box.violated(), "") << era.name;
    }
}

TEST(MachineOps, NamesAndMessagesAreDistinct) {
  std::set<std::string_view> names;
  for (u32 at = 0; at < kNrOpKinds; ++at)
    EXPECT_TRUE(names.insert(name_of(static_cast<OpKind>(at))).second);
  std::set<std::string_view> messages;
  for (u8 at = 0; at <= static_cast<u8>(OpError::kStride); ++at)
    EXPECT_TRUE(messages.insert(message_of(static_cast<OpError>(at))).second) << int{at};
}

TEST(MachineOps, AllProcessorsReachesPresentCpusWhoseVpTheGuestDoesNotKnow) {
  MachineShape shape = hyperv(2);
  shape.vp_index = {0, kVpInvalid};
  for (const Era& era : eras()) {
    Box box(era.name, shape);
    const MmId mm = box.mm();
    box.run(0, mm);
    box.run(1, mm);
    box.flush(0, mm);
    EXPECT_EQ(box.sent(), 0b11u) << era.name;
    EXPECT_EQ(box.violated(), "") << era.name << ": the host knows its VPs";
  }
}

TEST(Sequential, AHandlerDoesNotRunWhereInterruptsAreOff) {
  Guest guest(native(2));
  Truth truth(2);
  NamedTargetsHost host;
  SequentialPolicy policy(guest, truth, host);
  CpuMask both(2);
  both.set_all();
  u32 ran = 0;
  ++guest.cpu_tlbstate[1].irqs_off;
  policy.on_each_cpu(0, both, [&](Cpu cpu) { ran |= 1u << cpu; });
  EXPECT_EQ(ran, 0b01u);
  EXPECT_EQ(policy.waits_for, Cpu{1});
}

}  // namespace
}  // namespace hvtlb
