// What a machine looks like before anything has run, and how mms come and go.
#include "model/guest.h"

#include <bit>
#include <gtest/gtest.h>

namespace hvtlb {
namespace {

MachineShape shape(u32 nr_cpus) {
  MachineShape result;
  result.nr_cpus = nr_cpus;
  return result;
}

TEST(Guest, EveryCpuStartsOnInitMm) {
  const Guest guest(shape(3));
  for (Cpu cpu = 0; cpu < 3; ++cpu) {
    const CpuTlbState& tlb = guest.cpu_tlbstate[cpu];
    EXPECT_EQ(guest.cpu_tlbstate_shared[cpu].loaded_mm, kInitMm);
    EXPECT_EQ(guest.cpu_tlbstate_shared[cpu].is_lazy, 0u);
    EXPECT_EQ(tlb.loaded_mm_asid, 0u);
    EXPECT_EQ(tlb.next_asid, 1u);
    EXPECT_EQ(tlb.ctxs[0].ctx_id, 1u);
    EXPECT_EQ(tlb.ctxs[0].tlb_gen, 1u);
    EXPECT_EQ(tlb.ctxs[1].ctx_id, 0u);
    EXPECT_TRUE(guest.present(cpu));
    EXPECT_TRUE(guest.online(cpu));
    EXPECT_EQ(guest.vp_index[cpu], cpu);
  }
  EXPECT_EQ(guest.hv_max_vp_index, 2u);
  EXPECT_EQ(guest.mm(kInitMm).tlb_gen, 1u);
  EXPECT_EQ(guest.mm(kInitMm).pgd, 0x1000u);
}

TEST(Guest, AnInputPageHasItsWordsAndOneThatStandsBehindIt) {
  Guest guest(shape(2));
  EXPECT_EQ(guest.input_page(1)->words.size(), 4096u / 8 + 1);
  guest.input_page(1)->words[3] = 7;
  EXPECT_EQ(guest.input_page(1)->words[3], 7u) << "it keeps its bytes";
  EXPECT_EQ(guest.input_page(0)->words[3], 0u) << "each CPU has its own";
}

TEST(Guest, ANewMmHasAnEmptyMaskAndATrimRoundASecondAway) {
  MachineShape s = shape(65);
  s.jiffies = 5000;
  s.hz = 100;
  Guest guest(s);
  const MmId id = guest.new_mm();
  EXPECT_EQ(id, 1u);
  const Mm& mm = guest.mm(id);
  EXPECT_EQ(mm.ctx_id, 2u);
  EXPECT_EQ(mm.tlb_gen, 0u);
  EXPECT_EQ(mm.next_trim_cpumask, 5100u);
  EXPECT_EQ(mm.pgd, 0x100000u);
  EXPECT_EQ(mm.cpumask, (std::vector<u64>{0, 0}));
}

TEST(Guest, SlotsAreUsedAgainAndContextIdsAreNot) {
  Guest guest(shape(1));
  for (MmId id = 1; id <= 3; ++id) EXPECT_EQ(guest.new_mm(), id);
  guest.mm(2).tlb_gen = 9;
  guest.mm(2).cpumask[0] = 1;
  guest.free_mm(3);
  guest.free_mm(2);
  EXPECT_FALSE(guest.alive(2));
  EXPECT_EQ(guest.nr_alive(), 2u);
  EXPECT_EQ(guest.new_mm(), 2u);
  EXPECT_EQ(guest.mm(2).ctx_id, 5u);
  EXPECT_EQ(guest.mm(2).tlb_gen, 0u);
  EXPECT_FALSE(guest.in_cpumask(2, 0));
  EXPECT_EQ(guest.new_mm(), 3u);
  EXPECT_EQ(guest.new_mm(), 4u);
}

TEST(Guest, OnlineCpusAreThePresentOnesUnlessGiven) {
  MachineShape s = shape(70);
  s.present = CpuMask(70);
  s.present->set(1);
  s.present->set(69);
  const Guest guest(s);
  EXPECT_EQ(guest.cpu_present_mask, (std::vector<u64>{2, 32}));
  EXPECT_EQ(guest.cpu_online_mask, guest.cpu_present_mask);
  s.online = CpuMask(70);
  EXPECT_FALSE(Guest(s).online(1));
}

TEST(Guest, VpNumbersAreFoundBothWays) {
  MachineShape s = shape(3);
  s.vp_index = {200, kVpInvalid, 7};
  const Guest guest(s);
  EXPECT_EQ(guest.hv_max_vp_index, 200u);
  EXPECT_EQ(guest.cpu_of_vp(200), 0u);
  EXPECT_EQ(guest.cpu_of_vp(7), 2u);
  EXPECT_EQ(guest.cpu_of_vp(0), kVpInvalid);
  EXPECT_EQ(guest.cpu_of_vp(5000), kVpInvalid);
  EXPECT_EQ(guest.cpu_of_vp(kVpInvalid), kVpInvalid);
  s.hv_max_vp_index = 4096;
  EXPECT_EQ(Guest(s).hv_max_vp_index, 4096u);
}

TEST(Guest, InputPagesKeepTheirBytesAndMayBeMissing) {
  Guest guest(shape(2));
  guest.input_page(1)->words[511] = 42;
  EXPECT_EQ(guest.input_page(1)->words[511], 42u);
  EXPECT_EQ(guest.input_page(0)->words[511], 0u);
  guest.input_pages = false;
  EXPECT_EQ(guest.input_page(1), nullptr);
}

TEST(Guest, CpusAreFoundInTheirWords) {
  MachineShape s = shape(130);
  s.present = CpuMask(130);
  s.present->set_all();
  s.present->reset(127);
  s.online = s.present;
  s.online->reset(64);
  Guest guest(s);
  const MmId id = guest.new_mm();
  guest.mm(id).cpumask[2] = 0b10;
  for (Cpu cpu = 0; cpu < 130; ++cpu) {
    EXPECT_EQ(guest.present(cpu), cpu != 127) << cpu;
    EXPECT_EQ(guest.online(cpu), cpu != 127 && cpu != 64) << cpu;
    EXPECT_EQ(guest.in_cpumask(id, cpu), cpu == 129) << cpu;
  }
}

TEST(Guest, AllCpusArePresentWhereverTheLastWordEnds) {
  for (const u32 nr_cpus : {1u, 63u, 64u, 65u, 128u, 129u}) {
    const Guest guest(shape(nr_cpus));
    u32 present = 0;
    for (const u64 word : guest.cpu_present_mask) present += static_cast<u32>(std::popcount(word));
    EXPECT_EQ(present, nr_cpus);
    EXPECT_TRUE(guest.present(nr_cpus - 1));
  }
}

TEST(Guest, TheDefaultsAreThoseOfTheScenarioFormat) {
  const MachineShape s;
  EXPECT_EQ(s.jiffies, 1000u);
  EXPECT_EQ(s.hz, 250u);
  EXPECT_TRUE(s.pcid && s.hyperv && s.ex_processor_masks_recommended);
  EXPECT_FALSE(s.lam || s.pti);
  EXPECT_EQ(Guest(shape(1)).cpu_tlbstate[0].ctxs[1].tlb_gen, 0u);
  EXPECT_EQ(HypercallInputPage::kBytes, 4096u);
}

TEST(VpIndexBanks, AWordOfCpusIsABankOnlyWhereTheirVpsAreItInOrder) {
  MachineShape machine = shape(130);
  const VpIndex identity = Guest(machine).vp_index;
  EXPECT_EQ(identity.bank_of_word(0), 0u);
  EXPECT_EQ(identity.bank_of_word(1), 1u);
  EXPECT_EQ(identity.bank_of_word(2), 2u);
  for (Cpu cpu = 0; cpu < 130; ++cpu) machine.vp_index.push_back(cpu + 64);
  std::swap(machine.vp_index[70], machine.vp_index[71]);
  const VpIndex shifted = Guest(machine).vp_index;
  EXPECT_EQ(shifted.bank_of_word(0), 1u);
  EXPECT_EQ(shifted.bank_of_word(1), kVpInvalid);
  EXPECT_EQ(shifted.bank_of_word(2), 3u);
}

}  // namespace
}  // namespace hvtlb
