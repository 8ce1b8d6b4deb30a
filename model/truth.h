// The hardware truth: what every CPU's TLB may still hold, whatever the kernel believes. It shares
// nothing with the predicate: it sees only page-table changes, CR3 writes, invalidations, and what
// was asked to be flushed.
//
// Time is counted in page-table changes, over all mms (`version`). For every CPU and PCID the
// truth keeps an age: each translation that may be cached is at least as new as version `base`, and
// newer inside `patches`. The same for the paging-structure cache. A CPU whose CR3 selects the mm
// may fill at any moment, so right after a flush at version v the oldest possible entry is v.
//
// A hypercall may reach every PCID of many CPUs. Its ranges are therefore noted once
// (`HostFlushLog`) and looked up when a PCID's age is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cpumask.h"
#include "model/flush_tlb_info.h"
#include "model/host_flush_log.h"
#include "model/types.h"

namespace hvtlb {

/// What a host's flush of a target VP removes there.
enum class HostScope : u8 {
  kWholeTlb,      ///< every PCID (KVM ignores AddressSpace)
  kAddressSpace,  ///< all PCIDs that hold entries of the given CR3 (the most the TLFS promises)
  kIfCr3Matches,  ///< the current PCID, only if CR3 selects the given address space now
  kCurrentPcid,   ///< the current PCID, whatever it holds
};

/// Addresses of which a cache holds nothing older than `version`.
struct CachePatch {
  AddressRange range;
  u64 version;
};

/// A lower bound on the version of everything that a cache may hold of one mm.
struct CacheAge {
  u64 base = 0;
  std::vector<CachePatch> patches;  ///< newer than `base`; ascending versions
};

/// One PCID's contents on one CPU.
struct TaggedCache {
  u64 life = 0;       ///< the life of the mm it belongs to (`TruthMm::life`); 0: empty
  u64 mm_slot = 0;    ///< the mm's slot
  bool empty = true;  ///< nothing cached; becomes possibly full when selected
  CacheAge pages;
  CacheAge walks;
};

/// A page-table change or a flush request, remembered until every cache has left it behind.
struct TruthEvent {
  u64 version;  ///< the mm's version right after the change, or at the increment
  u64 tlb_gen;  ///< of a request: the generation it made; 0 for a change
  AddressRange range;
  u8 page_shift;  ///< of a change: log2 of the size of the pages that map the range
  bool freed_tables;
  bool returned;               ///< of a request: the flush has returned
  bool tables_usable = false;  ///< of a request with freed tables: somebody may use them again
};

/// Events, oldest first: a queue whose front is dropped in strides.
class TruthEvents {
 public:
  bool empty() const { return first_ == events_.size(); }
  std::size_t size() const { return events_.size() - first_; }
  const TruthEvent& front() const { return events_[first_]; }
  const TruthEvent& back() const { return events_.back(); }
  const TruthEvent& operator[](std::size_t at) const { return events_[first_ + at]; }
  TruthEvent& operator[](std::size_t at) { return events_[first_ + at]; }
  auto begin() const { return events_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return events_.end(); }

  void push_back(const TruthEvent& event) { events_.push_back(event); }
  void pop_front() {
    if (++first_ < 64 || first_ < events_.size() / 2) return;
    events_.erase(events_.begin(), begin());
    first_ = 0;
  }
  void clear() {
    events_.clear();
    first_ = 0;
  }

 private:
  std::vector<TruthEvent> events_;
  std::size_t first_ = 0;
};

/// How many events of an mm are remembered. A cache that falls behind further and is then used is
/// taken as stale: no correct rule lets that happen.
inline constexpr u32 kTruthHistory = 1024;

/// Requests that wait for their batch to be flushed; more than this is refused.
inline constexpr u32 kMaxPendingRequests = 65536;

struct TruthMm {
  u64 life = 0;            ///< counts the mms that this slot has held
  u64 version = 0;         ///< of its newest page-table change, or of its creation
  u64 forgotten = 0;       ///< changes up to this version are not remembered
  u64 required_pages = 0;  ///< version at the increment of the newest returned request
  u64 required_walks = 0;  ///< the same for requests with freed tables
  CpuMask selected_by;     ///< CPUs whose CR3 selects the mm
  TruthEvents changes;
  TruthEvents requests;
};

/// One CPU's hardware, as far as translations go.
struct TruthCpu {
  u64 cr3_slot = 0;     ///< the mm slot that CR3 selects
  u64 pcid = 0;         ///< as an index into `tags`
  u64 lam_bits = 0;     ///< of CR3
  MmId uses = kInitMm;  ///< whose translations its code may use now; kInitMm when lazy or idle
  std::vector<TaggedCache> tags;  ///< by PCID, a user's half behind its kernel's
};

class Truth {
 public:
  explicit Truth(u32 nr_cpus);

  // The page table and the requests
  void mm_created(MmId mm);
  void pte_change(MmId mm, AddressRange range, bool freed_tables, u8 page_shift = kPageShift);
  void flush_requested(MmId mm, u64 tlb_gen, AddressRange range, bool freed_tables);
  /// The request turns out to cover the newest change, too: it was made before that was visible.
  void request_covers_newest(MmId mm, u64 tlb_gen);
  /// The tables of the request are somebody else's memory from now on: nobody may walk them.
  void tables_freed(MmId mm, u64 tlb_gen);
  /// The request has returned: from now on nobody may use what it covered.
  void flush_returned(MmId mm, u64 tlb_gen);

  // The hardware
  void write_cr3(Cpu cpu, u64 cr3);
  void invlpg(Cpu cpu, u64 va, u8 page_shift);
  /// A hypercall's effect on one CPU: `everything`, or the `ranges`.
  void host_flush(Cpu cpu, HostScope scope, u64 address_space, bool everything,
                  std::span<const AddressRange> ranges);
  /// A broadcast's effect on one CPU.
  void broadcast(Cpu cpu, bool every_pcid, u64 pcid, AddressRange range);
  void reset_cpu(Cpu cpu);

  /// From now on this CPU's code may use translations of `mm` (kInitMm: of none).
  void set_uses(Cpu cpu, MmId mm) { cpus_[cpu].uses = mm; }
  MmId uses(Cpu cpu) const { return cpus_[cpu].uses; }
  u64 lam_bits(Cpu cpu) const { return cpus_[cpu].lam_bits; }
  bool selects(Cpu cpu, MmId mm) const { return cpus_[cpu].cr3_slot == mm; }
  const CpuMask& selected_by(MmId mm) const { return mms_[mm].selected_by; }

  /// Whether this CPU, through its current CR3, may hold something of `range` that is older than
  /// the page table is now.
  bool may_hold_old(Cpu cpu, MmId mm, AddressRange range) const;

  /// Whether the PCID that `cr3` names holds translations of the mm that it selects, and all of
  /// them are as new as the page table: to empty it is a waste.
  bool holds_only_new(Cpu cpu, u64 cr3) const;

  /// An address that this CPU may use although a returned flush covered it, if any (P1).
  std::optional<u64> usable_stale_page(Cpu cpu) const {
    const TruthCpu& hw = cpus_[cpu];
    if (hw.uses == kInitMm || hw.cr3_slot != hw.uses) return std::nullopt;
    const TaggedCache& cache = selected_cache(cpu);
    if (belongs(cache, hw.uses) && cache.pages.base >= mms_[hw.uses].required_pages)
      return std::nullopt;
    return find_stale_page(cpu);
  }

  /// An address whose freed page table this CPU may still walk, if any (P2).
  std::optional<u64> walkable_freed_table(Cpu cpu) const {
    const u64 slot = cpus_[cpu].cr3_slot;
    if (slot == kInitMm) return std::nullopt;
    const TaggedCache& cache = selected_cache(cpu);
    if (belongs(cache, slot) && cache.walks.base >= mms_[slot].required_walks) return std::nullopt;
    return find_freed_table(cpu);
  }

  /// Whether the cache under `pcid` holds everything of the requests up to `tlb_gen` as new as
  /// their increments; otherwise the address that it does not (P3).
  std::optional<u64> behind_generation(Cpu cpu, u64 pcid, MmId mm, u64 tlb_gen) const;

  /// All of it as words: equal words, equal answers from here on. With an `order`, of at most 64
  /// CPUs, the n-th of it stands for CPU n.
  void append_state(std::vector<u64>& state, std::span<const Cpu> order = {}) const;

  /// The same of one mm alone, as far as these CPUs' caches hold it: equal words, equal answers
  /// about it.
  void append_state_of(MmId mm, u32 cpus, std::vector<u64>& state) const;

  /// Whether too many requests are pending to accept another.
  bool full(MmId mm) const { return mms_[mm].requests.size() >= kMaxPendingRequests; }

 private:
  const TaggedCache& selected_cache(Cpu cpu) const {
    const TruthCpu& hw = cpus_[cpu];
    return hw.tags[hw.pcid];
  }
  bool belongs(const TaggedCache& cache, u64 slot) const {
    return cache.mm_slot == slot && cache.life == mms_[slot].life;
  }
  std::optional<u64> find_stale_page(Cpu cpu) const;
  std::optional<u64> find_freed_table(Cpu cpu) const;
  TruthEvent* request_of(TruthMm& mm, u64 tlb_gen);
  TaggedCache& tag(Cpu cpu, u64 index);
  void make_fresh(TaggedCache& cache) const;
  void patch(CacheAge& age, AddressRange range) const;
  void settle(CacheAge& age, Cpu cpu, const TruthMm& mm, bool walks) const;
  void settle(TaggedCache& cache, Cpu cpu) const;
  void note_host_flush(Cpu cpu, std::span<const AddressRange> ranges);
  void flush_tag(Cpu cpu, TaggedCache& cache, bool everything,
                 std::span<const AddressRange> ranges);
  void remember(TruthEvents& events, TruthMm& mm, const TruthEvent& event);
  std::optional<u64> uncovered(const CacheAge& age, Cpu cpu, AddressRange range, u64 version,
                               u8 page_shift) const;
  std::optional<u64> stale_page(const CacheAge& age, Cpu cpu, const TruthMm& mm, AddressRange range,
                                u64 version, bool walks) const;

  u64 now_ = 0;  // page-table changes and creations so far
  std::vector<TruthMm> mms_;
  std::vector<TruthCpu> cpus_;
  HostFlushLog host_flushes_;
};

}  // namespace hvtlb
