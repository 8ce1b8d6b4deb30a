// The seam between the guest's routines and what runs them. The routines are templates on a policy
// that decides what a load, a LOCKed operation, an IPI or a hypercall does: run at once
// (sequential.h), or be one step of an explored interleaving. The policy sees addresses and values,
// never the kernel's types, and it never names a handler.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "model/cpumask.h"
#include "model/flush_tlb_info.h"
#include "model/types.h"

namespace hvtlb {

/// The LOCKed read-modify-write operations that the kernel's routines use.
enum class RmwOp : u8 { kAdd, kOr, kAnd };

/// What a LOCKed operation leaves in the word.
constexpr u64 combined(RmwOp op, u64 before, u64 value) {
  switch (op) {
    case RmwOp::kAdd: return before + value;
    case RmwOp::kOr: return before | value;
    case RmwOp::kAnd: return before & value;
  }
  return before;
}

/// What an INVLPGB removes on every CPU: of one PCID or of all, a range or everything.
struct Invlpgb {
  bool every_pcid = false;
  u64 pcid = 0;
  AddressRange range{0, kTlbFlushAll};  ///< to kTlbFlushAll: everything
};

/// Where in a guest routine an access stands; names the step in a counterexample. Costs nothing
/// where the policy ignores it.
struct Site {
  const char* routine;
  int line;
  const char* file = "";

  static constexpr Site here(const char* routine = __builtin_FUNCTION(),
                             int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    return {routine, line, file};
  }
};

/// What a policy offers. Every call names the CPU that executes it.
///
/// Shared memory: `load`, `store`, `locked` and `cmpxchg` (return the value before),
/// `wait_while` (a load again and again until it gives another value), `fence`. Interrupts:
/// `irq_save`, `irq_restore`, which nest; `stop_machine` (waits until every other CPU is between
/// two operations). Hardware: `write_cr3` (the value as written, with PCID and the no-flush bit
/// 63), `invlpg` (an address and log2 of the size of the page that maps it), `invlpgb` and
/// `tlbsync` (a broadcast, and the wait until it has taken effect everywhere), `hypercall` (the
/// control word and the caller's input page; returns the result word). `on_each_cpu` runs a handler
/// on every CPU of a set, this one included, and returns when all have run.
///
/// Trace points, no steps of their own: `flush_requested` and `batch_requested` (the
/// generation was just incremented), `flush_targets` (the targets are about to be chosen from the
/// live mask), `flush_local` (this CPU flushes for itself, no other takes part),
/// `flush_sent_natively` (the set that the native path reaches), `tables_freed` (before the flush
/// that should come first, zoo Z19), `read_behind` (an array is read behind its end, zoo Z12) and
/// `flush_returned`. And what a routine makes of what it reads: of all that it has read since
/// `asks`, what it does from here on depends on the value given to `answered` alone, whatever
/// becomes of the words by which it decided; `answered` takes what `asks` gave.
template <class P>
concept MemoryPolicy = requires(P mem, Cpu cpu, u64& word, const u64& const_word, u64 value,
                                const FlushTlbInfo& info, const CpuMask& targets,
                                std::span<const u64> live_mask, std::span<const u64> input,
                                void (*handler)(Cpu)) {
  { mem.load(cpu, const_word) } -> std::same_as<u64>;
  { mem.store(cpu, word, value) } -> std::same_as<void>;
  { mem.locked(cpu, word, RmwOp::kAdd, value) } -> std::same_as<u64>;
  { mem.cmpxchg(cpu, word, value, value) } -> std::same_as<u64>;
  { mem.wait_while(cpu, const_word, value) } -> std::same_as<u64>;
  { mem.fence(cpu) } -> std::same_as<void>;
  { mem.irq_save(cpu) } -> std::same_as<void>;
  { mem.irq_restore(cpu) } -> std::same_as<void>;
  { mem.stop_machine(cpu) } -> std::same_as<void>;
  { mem.write_cr3(cpu, value) } -> std::same_as<void>;
  { mem.invlpg(cpu, value, u8{}) } -> std::same_as<void>;
  { mem.invlpgb(cpu, Invlpgb{}) } -> std::same_as<void>;
  { mem.tlbsync(cpu) } -> std::same_as<void>;
  { mem.on_each_cpu(cpu, targets, handler) } -> std::same_as<void>;
  { mem.hypercall(cpu, value, input) } -> std::same_as<u64>;
  { mem.flush_requested(cpu, info) } -> std::same_as<void>;
  { mem.batch_requested(cpu, info) } -> std::same_as<void>;
  { mem.flush_targets(cpu, live_mask, info) } -> std::same_as<void>;
  { mem.flush_local(cpu, info) } -> std::same_as<void>;
  { mem.flush_sent_natively(cpu, targets, info) } -> std::same_as<void>;
  { mem.tables_freed(cpu, info) } -> std::same_as<void>;
  { mem.read_behind(cpu, "array") } -> std::same_as<void>;
  { mem.asks(cpu) } -> std::same_as<u64>;
  { mem.answered(cpu, value, value) } -> std::same_as<void>;
  { mem.flush_returned(cpu, info) } -> std::same_as<void>;
};

}  // namespace hvtlb
