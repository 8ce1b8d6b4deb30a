// Whom the sender asks to flush: the native predicate, shared with Hyper-V's builder by the fix.
#pragma once

#include "model/switch_mm.h"

namespace hvtlb {

/// The native predicate of one request, as a function of what it reads: the era's rules and the
/// request are looked at once, not once a CPU.
struct FlushPredicate {
  u64 mm;               ///< what the flush is about, most often loaded by whoever is asked
  u64 or_loaded;        ///< this will do as well: LOADED_MM_SWITCHING in the eras that know it
  bool whatever_runs;   ///< any mm will do
  bool lazy_first;      ///< a mutation: `is_lazy` is read before `loaded_mm`
  bool lazy_elsewhere;  ///< a lazy CPU will do when another mm is loaded (`trim_reaches_lazy`)

  FlushPredicate(const Rules& rules, const FlushTlbInfo& info)
      : mm(info.mm),
        or_loaded(rules.predicate_switching ? kLoadedMmSwitching : mm),
        whatever_runs(!rules.predicate_loaded_mm || !info.has_mm || info.trim_cpumask),
        lazy_first(rules.predicate_reads == PredicateReads::kIsLazyFirst),
        lazy_elsewhere(rules.trim_reaches_lazy && info.has_mm && info.trim_cpumask) {}

  bool operator()(u64 loaded_mm, u64 is_lazy) const {
    return (is_lazy == 0) & ((loaded_mm == mm) | (loaded_mm == or_loaded) | whatever_runs);
  }
};

/// Asks the predicate about `cpu`, a member of the mask. `loaded_mm` is read before `is_lazy`, with
/// a read fence between (TSO keeps loads in order): `is_lazy` is at least as new as `loaded_mm`.
template <MemoryPolicy P>
bool should_flush_tlb(Kernel<P>& k, Cpu self, Cpu cpu, const FlushPredicate& predicate) {
  const CpuTlbStateShared& shared = k.guest.cpu_tlbstate_shared[cpu];
  const u64 asked = k.mem.asks(self);
  bool answer = false;
  if (predicate.lazy_first) {
    const u64 is_lazy = k.mem.load(self, shared.is_lazy);
    answer = predicate(k.mem.load(self, shared.loaded_mm), is_lazy);
  } else {
    const u64 loaded_mm = k.mem.load(self, shared.loaded_mm);
    answer = predicate(loaded_mm, k.mem.load(self, shared.is_lazy)) ||
             (predicate.lazy_elsewhere && loaded_mm != predicate.mm);
  }
  k.mem.answered(self, asked, answer);
  return answer;
}

/// `should_flush_tlb()` of the era: whether `cpu`, a member of the mask, must be reached by `info`.
template <MemoryPolicy P>
bool should_flush_tlb(Kernel<P>& k, Cpu self, Cpu cpu, const FlushTlbInfo& info) {
  return should_flush_tlb(k, self, cpu, FlushPredicate(k.rules, info));
}

/// `mm_in_asid_transition()`.
template <MemoryPolicy P>
bool mm_in_asid_transition(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  return has_global_asids(k) && info.has_mm &&
         k.mem.load(self, k.guest.mm(info.mm).asid_transition) != 0;
}

/// Whether the predicate is not asked: freed page tables, or an mm that moves to a global ASID.
template <MemoryPolicy P>
bool reaches_whole_mask(Kernel<P>& k, Cpu self, const FlushTlbInfo& info) {
  return (info.freed_tables && k.rules.freed_tables == FreedTables::kReachLazy) ||
         mm_in_asid_transition(k, self, info);
}

/// `should_trim_cpumask()`: strictly after `next_trim_cpumask`, which then moves on. Asked without
/// a lock: two senders may both win.
template <MemoryPolicy P>
bool should_trim_cpumask(Kernel<P>& k, Cpu self, Mm& mm) {
  const u64 asked = k.mem.asks(self);
  const u64 next_trim = k.mem.load(self, mm.next_trim_cpumask);
  const bool trims = static_cast<std::int64_t>(next_trim - k.guest.jiffies) < 0;
  k.mem.answered(self, asked, trims);
  if (trims) k.mem.store(self, mm.next_trim_cpumask, k.guest.jiffies + k.guest.hz);
  return trims;
}

}  // namespace hvtlb
