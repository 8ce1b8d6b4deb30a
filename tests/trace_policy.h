// A policy that writes down every access of a guest routine, by name and in order, and can change
// memory in between. Shows what a sequential run cannot: where fences stand, what is LOCKed, what
// is read before what.
#pragma once

#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

#include "model/kernel.h"

namespace hvtlb::test {

class TracePolicy {
 public:
  explicit TracePolicy(Guest& guest) : guest_(guest) {}

  std::vector<std::string> steps;
  /// Called before each access with its name: the place for another CPU's store.
  std::function<void(const std::string&)> before;

  /// The steps in one line, separated by "; ".
  std::string text() const { return fmt::format("{}", fmt::join(steps, "; ")); }

  u64 load(Cpu, const u64& word, Site = Site::here()) {
    step("load " + name(word));
    return word;
  }
  void store(Cpu, u64& word, u64 value, Site = Site::here()) {
    const bool switching = value == kLoadedMmSwitching;
    step(fmt::format("store {} {}", name(word), switching ? "SWITCHING" : std::to_string(value)));
    word = value;
  }
  u64 locked(Cpu, u64& word, RmwOp op, u64 value, Site = Site::here()) {
    static constexpr const char* kNames[] = {"add", "or", "and"};
    step(fmt::format("locked {} {}", kNames[static_cast<unsigned>(op)], name(word)));
    const u64 old = word;
    word = op == RmwOp::kAdd ? old + value : op == RmwOp::kOr ? old | value : old & value;
    return old;
  }
  u64 cmpxchg(Cpu, u64& word, u64 expected, u64 value, Site = Site::here()) {
    step(fmt::format("cmpxchg {} {} {}", name(word), expected, value));
    const u64 old = word;
    if (old == expected) word = value;
    return old;
  }
  u64 wait_while(Cpu, const u64& word, u64 value, Site = Site::here()) {
    step(fmt::format("wait while {} is {}", name(word),
                     value == kLoadedMmSwitching ? "SWITCHING" : std::to_string(value)));
    return word;
  }
  void fence(Cpu, Site = Site::here()) { step("fence"); }
  void irq_save(Cpu cpu) {
    ++guest_.cpu_tlbstate[cpu].irqs_off;
    step("cli");
  }
  void irq_restore(Cpu cpu) {
    --guest_.cpu_tlbstate[cpu].irqs_off;
    step("sti");
  }
  void stop_machine(Cpu) { step("stop_machine"); }
  void write_cr3(Cpu, u64 cr3) {
    step(fmt::format("cr3 {:#x}{}", cr3 & ~(u64{1} << 63), cr3 >> 63 != 0 ? " keep" : " flush"));
  }
  void invlpg(Cpu, u64 va, u8 page_shift) { step(fmt::format("invlpg {:#x}/{}", va, page_shift)); }
  void invlpgb(Cpu, const Invlpgb& what) {
    step(what.every_pcid ? std::string("invlpgb every pcid")
                         : fmt::format("invlpgb {:#x} {:#x}-{:#x}", what.pcid, what.range.start,
                                       what.range.end));
  }
  void tlbsync(Cpu) { step("tlbsync"); }
  template <class Handler>
  void on_each_cpu(Cpu, const CpuMask& targets, Handler handler) {
    step("ipi " + targets.to_hex());
    targets.for_each([&](Cpu cpu) {
      ++guest_.cpu_tlbstate[cpu].irqs_off;
      handler(cpu);
      --guest_.cpu_tlbstate[cpu].irqs_off;
    });
  }
  u64 hypercall(Cpu, u64 control, std::span<const u64>) {
    step(fmt::format("hypercall {}", control & 0xffff));
    return control & u64{0xfff} << 32;  // success, all entries done
  }
  void flush_requested(Cpu, const FlushTlbInfo&) { step("requested"); }
  void batch_requested(Cpu, const FlushTlbInfo&) { step("batched"); }
  void flush_targets(Cpu, std::span<const u64>, const FlushTlbInfo&) { step("targets"); }
  void flush_local(Cpu, const FlushTlbInfo&) { step("local"); }
  void flush_sent_natively(Cpu, const CpuMask&, const FlushTlbInfo&) {}
  void tables_freed(Cpu, const FlushTlbInfo&) { step("tables freed"); }
  void read_behind(Cpu, const char* array) { step(fmt::format("behind {}", array)); }
  u64 asks(Cpu) { return 0; }
  void answered(Cpu, u64, u64, Site = Site::here()) {}
  void flush_returned(Cpu, const FlushTlbInfo&) { step("returned"); }

 private:
  void step(const std::string& what) {
    if (before) before(what);
    steps.push_back(what);
  }

  /// The word's name in the kernel; "mask1" is the mask of mm 1, "lazy2" the flag of CPU 2.
  std::string name(const u64& word) const {
    for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu) {
      if (&word == &guest_.cpu_tlbstate_shared[cpu].loaded_mm) return fmt::format("loaded{}", cpu);
      if (&word == &guest_.cpu_tlbstate[cpu].seen_asid) return fmt::format("asid{}", cpu);
      if (&word == &guest_.cpu_tlbstate[cpu].active_mm) return fmt::format("active{}", cpu);
      if (&word == &guest_.cpu_tlbstate_shared[cpu].is_lazy) return fmt::format("lazy{}", cpu);
    }
    for (const u64& online : guest_.cpu_online_mask)
      if (&word == &online) return "online";
    for (MmId id = 0; id < guest_.nr_mm_slots(); ++id) {
      const Mm& mm = guest_.mm(id);
      if (&word == &mm.tlb_gen) return fmt::format("gen{}", id);
      if (&word == &mm.next_trim_cpumask) return fmt::format("next_trim{}", id);
      if (&word == &mm.global_asid) return fmt::format("global_asid{}", id);
      if (&word == &mm.tlb_flush_batched) return fmt::format("batched{}", id);
      if (&word == &mm.asid_transition) return fmt::format("transition{}", id);
      for (const u64& mask : mm.cpumask)
        if (&word == &mask) return fmt::format("mask{}", id);
    }
    return "private";
  }

  Guest& guest_;
};

static_assert(MemoryPolicy<TracePolicy>);

}  // namespace hvtlb::test
