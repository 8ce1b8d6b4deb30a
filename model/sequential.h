// The sequential policy: every access happens at once, handlers run one CPU after the other. It
// feeds the hardware truth and judges P1 to P4 where they are to be judged.
#pragma once

#include <vector>

#include "model/checks.h"
#include "model/host_port.h"
#include "model/policy.h"

namespace hvtlb {

/// Something that watches a sequential run; every call may be ignored.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void cr3_to_be_written(Cpu, u64 /*cr3*/) {}
  virtual void invalidated(Cpu, u64 /*va*/) {}
  virtual void targets_chosen(Cpu, std::span<const u64> /*mask*/, const FlushTlbInfo&) {}
  virtual void flushed_locally(Cpu, const FlushTlbInfo&) {}
  virtual void sent_natively(Cpu, const CpuMask& /*targets*/, const FlushTlbInfo&) {}
  virtual void called(Cpu, u64 /*control*/, std::span<const u64> /*input*/, const HostEffect&) {}
  virtual void returned(Cpu, const FlushTlbInfo&) {}
  virtual void violated(const Violation&) {}
};

/// How many violations a run keeps; later ones are counted only.
inline constexpr u32 kMaxViolationsKept = 100;

class SequentialPolicy {
 public:
  SequentialPolicy(Guest& guest, Truth& truth, HypercallHost& host)
      : guest_(guest), truth_(truth), host_(host) {}

  Observer* observer = nullptr;
  HostScope host_scope = HostScope::kWholeTlb;
  std::vector<Violation> violations;  ///< the first `kMaxViolationsKept`
  u64 nr_violations = 0;

  /// A CPU inside a temporary mm has interrupts off: an IPI to it would be waited for for ever.
  /// The first such CPU since this was cleared.
  std::optional<Cpu> waits_for;

  /// The batch's requests that have not been flushed yet.
  struct Pending {
    MmId mm;
    u64 ctx_id;
    u64 tlb_gen;
    AddressRange range;
  };
  std::vector<Pending> pending;

  // Shared memory
  u64 load(Cpu, const u64& word, Site = Site::here()) { return word; }
  void store(Cpu, u64& word, u64 value, Site = Site::here()) { word = value; }
  u64 locked(Cpu, u64& word, RmwOp op, u64 value, Site = Site::here()) {
    const u64 before = word;
    word = combined(op, before, value);
    return before;
  }
  u64 cmpxchg(Cpu, u64& word, u64 expected, u64 value, Site = Site::here()) {
    const u64 before = word;
    if (before == expected) word = value;
    return before;
  }
  /// Nobody else runs meanwhile: what it waits for has happened.
  u64 wait_while(Cpu, const u64& word, u64, Site = Site::here()) { return word; }
  void fence(Cpu, Site = Site::here()) {}

  // Interrupts
  void irq_save(Cpu cpu) { ++guest_.cpu_tlbstate[cpu].irqs_off; }
  void irq_restore(Cpu cpu) {
    if (--guest_.cpu_tlbstate[cpu].irqs_off == 0) check_cpu(cpu);
  }

  void stop_machine(Cpu) {}

  // Hardware
  void write_cr3(Cpu cpu, u64 cr3) {
    if (observer != nullptr) observer->cr3_to_be_written(cpu, cr3);
    truth_.write_cr3(cpu, cr3);
  }
  void invlpg(Cpu cpu, u64 va, u8 page_shift) {
    truth_.invlpg(cpu, va, page_shift);
    if (observer != nullptr) observer->invalidated(cpu, va);
  }
  void invlpgb(Cpu, const Invlpgb& what) {
    for (Cpu cpu = 0; cpu < guest_.nr_cpus; ++cpu)
      truth_.broadcast(cpu, what.every_pcid, what.pcid, what.range);
  }
  void tlbsync(Cpu) {}
  u64 hypercall(Cpu cpu, u64 control, std::span<const u64> input);

  template <class Handler>
  void on_each_cpu(Cpu self, const CpuMask& targets, Handler handler) {
    targets.for_each([&](Cpu cpu) {
      if (cpu != self && guest_.cpu_tlbstate[cpu].irqs_off != 0) {
        if (!waits_for) waits_for = cpu;
        return;
      }
      irq_save(cpu);
      handler(cpu);
      irq_restore(cpu);
    });
  }

  // Trace points
  void flush_requested(Cpu, const FlushTlbInfo& info) {
    truth_.flush_requested(info.mm, info.new_tlb_gen, covered_range(info), info.freed_tables);
  }
  void batch_requested(Cpu cpu, const FlushTlbInfo& info) {
    flush_requested(cpu, info);
    pending.push_back({info.mm, guest_.mm(info.mm).ctx_id, info.new_tlb_gen, covered_range(info)});
  }
  void flush_targets(Cpu cpu, std::span<const u64> mask, const FlushTlbInfo& info) {
    if (observer != nullptr) observer->targets_chosen(cpu, mask, info);
  }
  void flush_local(Cpu cpu, const FlushTlbInfo& info) {
    if (observer != nullptr) observer->flushed_locally(cpu, info);
  }
  void flush_sent_natively(Cpu cpu, const CpuMask& targets, const FlushTlbInfo& info) {
    if (observer != nullptr) observer->sent_natively(cpu, targets, info);
  }
  void tables_freed(Cpu, const FlushTlbInfo& info) {
    truth_.tables_freed(info.mm, info.new_tlb_gen);
  }
  void read_behind(Cpu cpu, const char* array) { report(read_behind_of(cpu, array)); }
  u64 asks(Cpu) { return 0; }
  void answered(Cpu, u64, u64, Site = Site::here()) {}
  void flush_returned(Cpu cpu, const FlushTlbInfo& info);
  /// Everything that the batch holds of this mm is flushed by now, or has to be.
  void pending_returned(MmId mm);

  /// Judges P1 to P4 for a CPU with interrupts on.
  void check_cpu(Cpu cpu) {
    report(check_p4(guest_, truth_, cpu));
    report(check_p3(guest_, truth_, cpu));
    report(check_p2(guest_, truth_, cpu));
    report(check_p1(guest_, truth_, cpu));
    report(check_lazy(guest_, truth_, cpu));
    report(check_cr3(guest_, truth_, cpu));
  }

  void report(std::optional<Violation> violation) {
    if (!violation) return;
    ++nr_violations;
    if (observer != nullptr) observer->violated(*violation);
    if (violations.size() < kMaxViolationsKept) violations.push_back(*std::move(violation));
  }

 private:
  void check_mm(MmId mm);

  Guest& guest_;
  Truth& truth_;
  HypercallHost& host_;
  HostEffect effect_;
};

static_assert(MemoryPolicy<SequentialPolicy>);

}  // namespace hvtlb
