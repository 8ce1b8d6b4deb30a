// CPUs go offline and come back.
#include <gtest/gtest.h>

#include "tests/box.h"

namespace hvtlb {
namespace {

using test::Box;
using test::native;

TEST(Hotplug, OfflineSwitchesToInitMm) {
  for (const Era& era : eras()) {
    Box box(era.name, native(2));
    const MmId a = box.mm();
    const MmId b = box.mm();
    box.run(1, a);
    box.run(1, b);
    box.offline(1);
    EXPECT_FALSE(box.machine.guest().online(1));
    EXPECT_TRUE(box.machine.guest().present(1));
    EXPECT_EQ(box.loaded(1), kInitMm);
    const bool eager = era.rules.prev_bit == PrevBit::kCleared;
    EXPECT_EQ(box.mask(a), eager ? 0u : 2u) << "stale bits stay in the lazy-bit eras";
    EXPECT_EQ(box.mask(b), eager ? 0u : 2u) << era.name;
    EXPECT_EQ(box.violated(), "");
  }
}

TEST(Hotplug, OnlineResetsTheSlots) {
  Box box("v6.17.5", native(2));
  const MmId mms[] = {box.mm(), box.mm(), box.mm(), box.mm(), box.mm()};
  for (MmId mm : mms) box.run(1, mm);
  box.flush(1, mms[4]);
  box.machine.guest().cpu_tlbstate[1].invalidate_other = 1;
  box.offline(1);
  box.machine.guest().mm(kInitMm).tlb_gen = 3;
  box.machine.guest().cpu_tlbstate[1].invalidate_other = 1;
  box.online(1);
  EXPECT_TRUE(box.machine.guest().online(1));
  const CpuTlbState& tlb = box.tlb(1);
  EXPECT_EQ(tlb.loaded_mm_asid, 0u);
  EXPECT_EQ(tlb.next_asid, 1u);
  EXPECT_EQ(tlb.ctxs[0].ctx_id, 1u);
  EXPECT_EQ(tlb.ctxs[0].tlb_gen, 3u);
  for (u32 asid = 1; asid < kNrDynAsids; ++asid) EXPECT_EQ(tlb.ctxs[asid].ctx_id, 0u);
  EXPECT_EQ(tlb.ctxs[5].tlb_gen, 1u) << "generations of the other slots stay as they are";
  EXPECT_EQ(tlb.invalidate_other, 1u) << "survives";
  EXPECT_EQ(tlb.irqs_off, 0u);
}

class Cr3Writes final : public Observer {
 public:
  void cr3_to_be_written(Cpu, u64 cr3) override { values.push_back(cr3); }
  std::vector<u64> values;
};

TEST(Hotplug, OnlineWritesCr3OnceWithAFlush) {
  Box box("v6.12.117", native(2));
  box.offline(1);
  Cr3Writes writes;
  box.machine.observe(&writes);
  box.online(1);
  EXPECT_EQ(writes.values, (std::vector<u64>{0x1001}));
}

TEST(Hotplug, AnMmThatComesBackIsFlushed) {
  Box box("v6.17.5", native(2));
  const MmId mm = box.mm();
  box.run(0, mm);
  box.run(1, mm);
  box.offline(1);
  box.flush(0, mm);
  EXPECT_EQ(box.sent(), 1u) << "IPIs go to online CPUs only";
  box.online(1);
  box.run(1, mm);
  box.touch(1);
  EXPECT_EQ(box.violated(), "");
}

TEST(Hotplug, OneGoesTheOthersStayAsTheyAre) {
  Box box("v6.17.5", native(4));
  box.offline(1);
  box.offline(2);
  EXPECT_EQ(box.machine.guest().cpu_online_mask[0], 0b1001u);
  box.online(1);
  EXPECT_EQ(box.machine.guest().cpu_online_mask[0], 0b1011u);
}

TEST(Hotplug, OnlineBeginsWithTheFirstSlotAgain) {
  Box box("v6.17.5", native(2));
  const MmId mms[] = {box.mm(), box.mm()};
  for (MmId mm : mms) box.run(1, mm);
  EXPECT_EQ(box.tlb(1).next_asid, 3u);
  box.offline(1);
  box.online(1);
  EXPECT_EQ(box.tlb(1).next_asid, 1u);
}

}  // namespace
}  // namespace hvtlb
