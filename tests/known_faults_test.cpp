// The known faults that need no concurrency, by their exact triggers: shown in every era that
// lists them, and absent everywhere else.
#include <gtest/gtest.h>

#include "tests/sender.h"

namespace hvtlb {
namespace {

using test::Box;
using test::hyperv;
using test::kVa;
using test::native;
using test::Sender;

bool lists(const Era& era, std::string_view zoo) {
  for (const KnownFault& fault : era.known_faults)
    if (fault.zoo == zoo) return true;
  return false;
}

constexpr u64 kUnit = u64{16} << 20;

// Z14: hv_max_vp_index >= 4096 and an EX call: an empty set, success, nobody flushed.
MachineShape beyond_64_banks(u32 hv_max_vp_index) {
  MachineShape shape = hyperv(3);
  shape.vp_index = {0, 1, 100};
  shape.hv_max_vp_index = hv_max_vp_index;
  return shape;
}

std::string flush_three_of_four(const Era& era, MachineShape shape) {
  shape.nr_cpus = 4;
  shape.vp_index.push_back(2);
  Box box(era.name, shape);
  const MmId mm = box.mm();
  for (Cpu cpu : {0u, 1u, 2u}) box.run(cpu, mm);
  box.flush(0, mm);
  EXPECT_EQ(box.last().outcome, Outcome::kHypercall);
  EXPECT_EQ(box.sent() == 0, !box.violated().empty());
  return box.violated();
}

TEST(KnownFaults, Z14EveryTargetIsMissed) {
  for (const Era& era : eras()) {
    const std::string found = flush_three_of_four(era, beyond_64_banks(4096));
    EXPECT_EQ(found, lists(era, "Z14") ? "P1 P1 P1" : "") << era.name;
    EXPECT_EQ(flush_three_of_four(era, beyond_64_banks(4095)), "") << era.name;
  }
}

TEST(KnownFaults, Z14WithFreedTablesBreaksP2AsWell) {
  for (const Era& era : eras()) {
    Box box(era.name, beyond_64_banks(4096));
    const MmId mm = box.mm();
    for (Cpu cpu : {0u, 2u}) box.run(cpu, mm);
    box.lazy(2);
    box.flush_freed(0, mm);
    EXPECT_EQ(box.violated(), "P2 P1 P2") << era.name << ": the lazy CPU can only walk";
  }
}

TEST(KnownFaults, Z14NeedsAnExCall) {
  for (const Era& era : eras()) {
    MachineShape shape = beyond_64_banks(4096);
    shape.vp_index = {0, 1, 63};
    EXPECT_EQ(flush_three_of_four(era, shape), "") << era.name;
  }
}

TEST(KnownFaults, Z14WithAHostThatRefusesIsHarmless) {
  for (const Era& era : eras()) {
    NamedTargetsHost host;
    host.status = 5;
    MachineShape shape = beyond_64_banks(4096);
    Box box(era.name, shape, &host);
    const MmId mm = box.mm();
    for (Cpu cpu : {0u, 2u}) box.run(cpu, mm);
    box.flush(0, mm);
    EXPECT_TRUE(box.last().fell_back);
    EXPECT_EQ(box.violated(), "") << era.name;
  }
}

// Z15: as many whole units as the list holds, and a rest: one entry more than the page holds.
u64 input_bytes(std::string_view era, const MachineShape& shape, u64 length) {
  Sender sender(era, shape);
  sender.members({0, 1}).range(kVa, kVa + length).send();
  EXPECT_TRUE(sender.hypercall());
  const u64 header = sender.ex() ? 4 : 3;
  return 8 * (header + sender.header_words() + sender.reps());
}

TEST(KnownFaults, Z15TheListRunsOverThePage) {
  MachineShape ex = hyperv(3);
  ex.vp_index = {0, 70, 1};
  const MachineShape plain = hyperv(3);
  for (const Era& era : eras()) {
    const u64 over = lists(era, "Z15") ? 4104 : 24;
    EXPECT_EQ(input_bytes(era.name, plain, 509 * kUnit + kPageSize), over) << era.name;
    EXPECT_EQ(input_bytes(era.name, plain, 509 * kUnit), 4096u) << era.name;
    EXPECT_EQ(input_bytes(era.name, plain, 508 * kUnit + kPageSize), 4096u) << era.name;
    EXPECT_EQ(input_bytes(era.name, plain, 510 * kUnit), 24u) << "the whole space: " << era.name;
    EXPECT_EQ(input_bytes(era.name, ex, 506 * kUnit + kPageSize), over) << era.name;
    EXPECT_EQ(input_bytes(era.name, ex, 506 * kUnit), 4096u) << era.name;
    EXPECT_EQ(input_bytes(era.name, ex, 507 * kUnit), 32u + 16u) << era.name;
  }
}

// Z06: on Hyper-V no handler runs, so no bit is ever trimmed.
u64 mask_after_trim_rounds(const Era& era, const MachineShape& shape) {
  Box box(era.name, shape);
  const MmId mm = box.mm();
  const MmId other = box.mm();
  for (Cpu cpu = 0; cpu < 4; ++cpu) box.run(cpu, mm);
  box.run(1, other);  // busy elsewhere
  box.leave(2);       // on init_mm, not lazy
  for (int round = 0; round < 3; ++round) {
    box.tick(shape.hz + 1);
    box.flush(0, mm);
    box.flush(0, mm);
  }
  EXPECT_EQ(box.violated(), "") << era.name;
  return box.mask(mm);
}

TEST(KnownFaults, Z06TheMaskNeverShrinksOnHypervBeforeTheFix) {
  for (const Era& era : eras()) {
    EXPECT_EQ(mask_after_trim_rounds(era, hyperv(5)), lists(era, "Z06") ? 0b1111u : 0b1001u)
        << era.name;
    EXPECT_EQ(mask_after_trim_rounds(era, native(5)), 0b1001u) << era.name;
  }
}

TEST(KnownFaults, Z06ListedFromV6_14ToV6_17_5) {
  for (const Era& era : eras())
    EXPECT_EQ(lists(era, "Z06"), era.name == "v6.14" || era.name == "v6.14.7" ||
                                     era.name == "v6.15" || era.name == "v6.17.5");
}

TEST(KnownFaults, EachExplainsWhatItsOwnTriggerBreaks) {
  const Era& era = *find_era("v6.17.5");
  const auto explained = [&](Property property, u64 va, bool empty_set) {
    const KnownFault* fault = known_fault_of(era, empty_set, Violation{property, 0, 1, va, ""});
    return fault == nullptr ? std::string_view("-") : fault->zoo;
  };
  EXPECT_EQ(explained(Property::kP1, 0, false), "-");
  EXPECT_EQ(explained(Property::kP1, 0, true), "Z14");
  EXPECT_EQ(explained(Property::kP2, 0, true), "Z14");
  EXPECT_EQ(explained(Property::kP5, 0, true), "Z14") << "P1 before somebody looks";
  EXPECT_EQ(explained(Property::kP4, 0, true), "-");
  EXPECT_EQ(explained(Property::kP7, 0, false), "-");
  EXPECT_EQ(explained(Property::kP7, 4096, false), "Z15");
  EXPECT_EQ(explained(Property::kP1, 4096, false), "-");
}

}  // namespace
}  // namespace hvtlb
