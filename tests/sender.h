// One flush decision: a state set up field by field, the era's flush_tlb_multi() over it, and what
// came out, with the hypercall's bytes read back by hand: the numbers here are the specification's
// own, not those of flush/wire.h.
#pragma once

#include <gtest/gtest.h>
#include <initializer_list>

#include "flush/decision.h"
#include "tests/box.h"

namespace hvtlb::test {

struct Sender {
  Guest guest;
  Rules rules;
  DecisionPolicy policy;
  MmId target;
  MmId other;
  FlushTlbInfo info;

  Sender(const Rules& r, const MachineShape& shape)
      : guest(shape), rules(r), target(guest.new_mm()), other(guest.new_mm()) {
    for (CpuTlbStateShared& shared : guest.cpu_tlbstate_shared) shared.loaded_mm = target;
    info.mm = target;
    info.has_mm = true;
    info.start = kVa;
    info.end = kVa + kPageSize;
    info.new_tlb_gen = 1;
  }
  Sender(std::string_view era, const MachineShape& shape) : Sender(rules_of(era), shape) {}

  Sender& members(std::initializer_list<Cpu> cpus) {
    for (Cpu cpu : cpus) guest.mm(target).cpumask[cpu / 64] |= u64{1} << (cpu % 64);
    return *this;
  }
  Sender& all_members() {
    for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) members({cpu});
    return *this;
  }
  Sender& lazy(std::initializer_list<Cpu> cpus) {
    for (Cpu cpu : cpus) guest.cpu_tlbstate_shared[cpu].is_lazy = 1;
    return *this;
  }
  Sender& loaded(std::initializer_list<Cpu> cpus, u64 mm) {
    for (Cpu cpu : cpus) guest.cpu_tlbstate_shared[cpu].loaded_mm = mm;
    return *this;
  }
  Sender& range(u64 start, u64 end) {
    info.start = start;
    info.end = end;
    return *this;
  }

  Sender& send(Cpu self = 0) {
    policy = DecisionPolicy{};
    policy.host_status = host_status;
    info.initiating_cpu = self;
    Kernel<DecisionPolicy> k{guest, rules, policy};
    flush_tlb_multi(k, self, guest.mm(target).cpumask, info);
    EXPECT_EQ(policy.irqs_off, 0u);
    input.assign(policy.input.begin(), policy.input.end());
    return *this;
  }

  // What came out.
  bool none() const { return !policy.called && !policy.native; }
  bool hypercall() const { return policy.called && !policy.native; }
  bool native() const { return policy.native; }
  u64 native_targets() const { return word_of(policy.targets); }

  // The call, read by hand.
  u64 code() const { return policy.control & 0xffff; }
  u64 header_words() const { return policy.control >> 17 & 0x3ff; }
  u64 reps() const { return policy.control >> 32 & 0xfff; }
  bool ex() const { return code() >= 0x13; }
  u64 word(u32 at) const { return input.at(at); }
  u64 address_space() const { return word(0); }
  u64 flags() const { return word(1); }
  u64 processor_mask() const { return word(2); }
  u64 banks_mask() const { return word(3); }
  u64 bank(u32 at) const { return word(4 + at); }
  u64 gva(u32 at) const { return word((ex() ? 4 + static_cast<u32>(header_words()) : 3) + at); }

  u16 host_status = 0;
  std::vector<u64> input;  ///< the page as it was called with
};

}  // namespace hvtlb::test
