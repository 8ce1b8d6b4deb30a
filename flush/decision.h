// One flush decision by itself: the era's own `flush_tlb_multi()` over a given state, with nobody
// flushing in the end. For `hvtlb encode`, for exhaustive tests of the builder, and for the
// benchmark.
#pragma once

#include "flush/flush_tlb.h"
#include "flush/wire.h"

namespace hvtlb {

/// Runs the sender's side at once and keeps what it sends; handlers do not run.
class DecisionPolicy {
 public:
  u16 host_status = hv::kStatusSuccess;  ///< what every hypercall is answered

  bool called = false;  ///< a hypercall was made; the last one's bytes are still in the page
  u64 control = 0;      ///< of the last one
  u16 status = hv::kStatusSuccess;
  std::span<const u64> input;
  bool native = false;  ///< the native path was taken
  bool native_trim = false;
  CpuMask targets;   ///< whom the native path reaches, this CPU included
  u32 irqs_off = 0;  ///< depth; 0 again on every way out

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
  void irq_save(Cpu) { ++irqs_off; }
  void irq_restore(Cpu) { --irqs_off; }
  void stop_machine(Cpu) {}
  void write_cr3(Cpu, u64) {}
  void invlpg(Cpu, u64, u8) {}
  void invlpgb(Cpu, const Invlpgb&) {}
  void tlbsync(Cpu) {}
  template <class Handler>
  void on_each_cpu(Cpu, const CpuMask&, Handler) {}
  u64 hypercall(Cpu, u64 control_word, std::span<const u64> page) {
    called = true;
    control = control_word;
    input = page;
    status = host_status;
    return hv::result_word(status, status == hv::kStatusSuccess ? hv::rep_count(control) : 0);
  }
  void flush_requested(Cpu, const FlushTlbInfo&) {}
  void batch_requested(Cpu, const FlushTlbInfo&) {}
  void flush_targets(Cpu, std::span<const u64>, const FlushTlbInfo&) {}
  void flush_local(Cpu, const FlushTlbInfo&) {}
  void flush_sent_natively(Cpu, const CpuMask& whom, const FlushTlbInfo& info) {
    native = true;
    native_trim = info.trim_cpumask;
    targets = whom;
  }
  void tables_freed(Cpu, const FlushTlbInfo&) {}
  void read_behind(Cpu, const char*) {}
  u64 asks(Cpu) { return 0; }
  void answered(Cpu, u64, u64, Site = Site::here()) {}
  void flush_returned(Cpu, const FlushTlbInfo&) {}
};

static_assert(MemoryPolicy<DecisionPolicy>);

}  // namespace hvtlb
