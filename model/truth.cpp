#include "model/truth.h"

#include <algorithm>
#include <cassert>

namespace hvtlb {
namespace {

constexpr u32 kPgdShift = 20;  // Guest gives the mm in slot n the top table n * 0x100000
constexpr u64 kCr3Pcid = 0xfff;
constexpr u64 kCr3KeepEntries = u64{1} << 63;
constexpr u64 kCr3Address = 0x000ffffffffff000;

/// More ranges than this in one list of patches forget the oldest, which only makes the cache look
/// older.
constexpr u32 kMaxPatches = 4096;

AddressRange intersect(AddressRange a, AddressRange b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

/// Adds a patch, to the last one where it goes on where that ends. Inlined: a hypercall comes here
/// for every CPU it names.
[[gnu::always_inline]] inline void append(std::vector<CachePatch>& patches,
                                          const CachePatch& patch) {
  if (!patches.empty() && patches.back().version == patch.version &&
      patches.back().range.end == patch.range.start) {
    patches.back().range.end = patch.range.end;
    return;
  }
  if (patches.size() >= kMaxPatches) [[unlikely]]
    patches.erase(patches.begin(), patches.begin() + kMaxPatches / 2);
  patches.push_back(patch);
}

/// Drops the patches that are not newer than `version`: they stand in front.
void drop_until(std::vector<CachePatch>& patches, u64 version) {
  if (patches.empty()) return;
  const auto newer = std::find_if(patches.begin(), patches.end(),
                                  [&](const CachePatch& p) { return p.version > version; });
  patches.erase(patches.begin(), newer);
}

/// The newest patch that covers `at`, if it is at least as new as `version`.
const CachePatch* covering(std::span<const CachePatch> patches, u64 at, u64 version) {
  for (auto p = patches.rbegin(); p != patches.rend() && p->version >= version; ++p)
    if (p->range.start <= at && at < p->range.end) return &*p;
  return nullptr;
}

/// The first address of `range` that no patch of at least `version` covers.
std::optional<u64> uncovered(const CacheAge& age, std::span<const CachePatch> host_flushed,
                             AddressRange range, u64 version) {
  for (u64 at = range.start; at < range.end;) {
    const CachePatch* patch = covering(age.patches, at, version);
    if (patch == nullptr) patch = covering(host_flushed, at, version);
    if (patch == nullptr) return at;
    at = patch->range.end;
  }
  return std::nullopt;
}

AddressRange page_range(u64 va, u8 page_shift) {
  const u64 size = u64{1} << page_shift;
  const u64 start = va & ~(size - 1);
  return {start, start + size < start ? kTlbFlushAll : start + size};
}

}  // namespace

Truth::Truth(u32 nr_cpus) : cpus_(nr_cpus) {
  mm_created(kInitMm);
  for (Cpu cpu = 0; cpu < nr_cpus; ++cpu) reset_cpu(cpu);
}

void Truth::mm_created(MmId id) {
  if (id >= mms_.size()) mms_.resize(id + 1);
  TruthMm& mm = mms_[id];
  if (mm.selected_by.size() == 0) mm.selected_by = CpuMask(static_cast<u32>(cpus_.size()));
  ++mm.life;
  mm.forgotten = mm.version = ++now_;
  mm.required_pages = mm.required_walks = 0;
  mm.changes.clear();
  mm.requests.clear();
}

void Truth::remember(TruthEvents& events, TruthMm& mm, const TruthEvent& event) {
  events.push_back(event);
  const bool pending = !mm.requests.empty() && !mm.requests.front().returned;
  while (mm.changes.size() > kMaxPendingRequests ||
         (mm.changes.size() > kTruthHistory && !pending)) {
    mm.forgotten = mm.changes.front().version;
    mm.changes.pop_front();
  }
  while (mm.requests.size() > kTruthHistory && mm.requests.front().returned)
    mm.requests.pop_front();
}

void Truth::pte_change(MmId id, AddressRange range, bool freed_tables) {
  TruthMm& mm = mms_[id];
  mm.version = ++now_;
  remember(mm.changes, mm, {mm.version, 0, range, freed_tables, false});
}

void Truth::flush_requested(MmId id, u64 tlb_gen, AddressRange range, bool freed_tables) {
  TruthMm& mm = mms_[id];
  remember(mm.requests, mm, {mm.version, tlb_gen, range, freed_tables, false});
}

void Truth::flush_returned(MmId id, u64 tlb_gen) {
  TruthMm& mm = mms_[id];
  for (std::size_t at = mm.requests.size(); at-- > 0;) {
    TruthEvent& request = mm.requests[at];
    if (request.tlb_gen != tlb_gen) continue;
    request.returned = true;
    mm.required_pages = std::max(mm.required_pages, request.version);
    if (request.freed_tables) mm.required_walks = std::max(mm.required_walks, request.version);
    return;
  }
}

TaggedCache& Truth::tag(Cpu cpu, u64 pcid) {
  auto& tags = cpus_[cpu].tags;
  if (pcid >= tags.size()) tags.resize(pcid + 1);
  return tags[pcid];
}

void Truth::make_fresh(TaggedCache& cache) const {
  cache.life = mms_[cache.mm_slot].life;
  cache.empty = false;
  cache.pages.base = cache.walks.base = now_;
  cache.pages.patches.clear();
  cache.walks.patches.clear();
}

void Truth::write_cr3(Cpu cpu, u64 cr3) {
  TruthCpu& hw = cpus_[cpu];
  const u64 slot = (cr3 & kCr3Address) >> kPgdShift;
  if (slot != hw.cr3_slot) {
    mms_[hw.cr3_slot].selected_by.reset(cpu);
    mms_[slot].selected_by.set(cpu);
  }
  hw.cr3_slot = slot;
  hw.pcid = cr3 & kCr3Pcid;
  TaggedCache& cache = tag(cpu, hw.pcid);
  if ((cr3 & kCr3KeepEntries) != 0 && !cache.empty) {
    settle(hw, cache);
    return;
  }
  cache.mm_slot = slot;
  make_fresh(cache);
}

void Truth::reset_cpu(Cpu cpu) {
  TruthCpu& hw = cpus_[cpu];
  mms_[hw.cr3_slot].selected_by.reset(cpu);
  hw = TruthCpu{};
  mms_[kInitMm].selected_by.set(cpu);
  make_fresh(tag(cpu, 1));
  hw.pcid = 1;
}

void Truth::patch(CacheAge& age, AddressRange range) const {
  if (age.base < now_) append(age.patches, {range, now_});
}

/// Moves the base over every change that is covered by now; then most patches say nothing new.
void Truth::settle(CacheAge& age, Patches host_flushed, const TruthMm& mm, bool walks) const {
  if (age.base < mm.forgotten) return;
  std::size_t at = mm.changes.size();
  while (at > 0 && mm.changes[at - 1].version > age.base) --at;
  for (; at < mm.changes.size(); ++at) {
    const TruthEvent& change = mm.changes[at];
    if ((!walks || change.freed_tables) &&
        uncovered(age, host_flushed, change.range, change.version))
      break;
    age.base = change.version;
  }
  drop_until(age.patches, age.base);
}

void Truth::settle(TruthCpu& hw, TaggedCache& cache) const {
  const TruthMm& mm = mms_[cache.mm_slot];
  if (cache.pages.base < mm.version) settle(cache.pages, hw.host_flushed, mm, false);
  if (cache.walks.base < mm.version) settle(cache.walks, hw.host_flushed, mm, true);
}

void Truth::invlpg(Cpu cpu, u64 va, u8 page_shift) {
  TruthCpu& hw = cpus_[cpu];
  TaggedCache& cache = tag(cpu, hw.pcid);
  patch(cache.pages, page_range(va, page_shift));
  // INVLPG drops the paging-structure cache of the current PCID for all addresses.
  cache.walks.base = now_;
  cache.walks.patches.clear();
  settle(hw, cache);
}

void Truth::flush_tag(TruthCpu& hw, TaggedCache& cache, bool everything,
                      std::span<const AddressRange> ranges) {
  if (cache.empty) return;
  const bool selected = &cache == &hw.tags[hw.pcid];
  if (everything) {
    if (selected)
      make_fresh(cache);
    else
      cache = TaggedCache{};
    return;
  }
  for (const AddressRange& range : ranges) {
    patch(cache.pages, range);
    patch(cache.walks, range);
  }
  settle(hw, cache);
}

/// Notes the ranges once for all PCIDs; only the age of the selected one is looked at soon.
void Truth::flush_whole_tlb(TruthCpu& hw, std::span<const AddressRange> ranges) {
  for (const AddressRange& range : ranges) append(hw.host_flushed, {range, now_});
  settle(hw, hw.tags[hw.pcid]);
  if (hw.host_flushed.size() >= hw.prune_at) prune(hw);
}

/// Drops what says nothing new about any PCID. One that has fallen behind the remembered changes,
/// or whose mm is gone, is stale whatever was flushed.
void Truth::prune(TruthCpu& hw) const {
  u64 oldest = now_;
  for (const TaggedCache& cache : hw.tags) {
    const TruthMm& mm = mms_[cache.mm_slot];
    if (cache.empty || cache.life != mm.life) continue;
    for (const CacheAge* age : {&cache.pages, &cache.walks})
      if (age->base >= mm.forgotten && age->base < mm.version) oldest = std::min(oldest, age->base);
  }
  drop_until(hw.host_flushed, oldest);
  hw.prune_at = std::max<std::size_t>(64, 2 * hw.host_flushed.size());
}

void Truth::host_flush(Cpu cpu, HostScope scope, u64 address_space, bool everything,
                       std::span<const AddressRange> ranges) {
  TruthCpu& hw = cpus_[cpu];
  if (scope == HostScope::kWholeTlb && !everything) {
    flush_whole_tlb(hw, ranges);
    return;
  }
  const auto in_space = [&](u64 slot) {
    return address_space == kTlbFlushAll || address_space >> kPgdShift == slot;
  };
  for (u64 pcid = 0; pcid < hw.tags.size(); ++pcid) {
    const bool selected = pcid == hw.pcid;
    bool reached = true;
    switch (scope) {
      case HostScope::kWholeTlb: break;
      case HostScope::kAddressSpace: reached = in_space(hw.tags[pcid].mm_slot); break;
      case HostScope::kIfCr3Matches: reached = selected && in_space(hw.cr3_slot); break;
      case HostScope::kCurrentPcid: reached = selected; break;
    }
    if (!reached) continue;
    if (selected && everything) hw.tags[pcid].mm_slot = hw.cr3_slot;
    flush_tag(hw, hw.tags[pcid], everything, ranges);
  }
}

std::optional<u64> Truth::stale_page(const CacheAge& age, Patches host_flushed, const TruthMm& mm,
                                     AddressRange range, u64 version, bool walks) const {
  if (age.base >= version) return std::nullopt;
  if (age.base < mm.forgotten) return range.start;
  for (std::size_t at = mm.changes.size(); at-- > 0;) {
    const TruthEvent& change = mm.changes[at];
    if (change.version <= age.base) break;
    if (change.version > version || (walks && !change.freed_tables)) continue;
    const AddressRange both = intersect(change.range, range);
    if (const auto va = uncovered(age, host_flushed, both, change.version)) return va;
  }
  return std::nullopt;
}

bool Truth::may_hold_old(Cpu cpu, MmId id, AddressRange range) const {
  if (!selects(cpu, id)) return false;
  const TaggedCache& cache = selected_cache(cpu);
  const TruthMm& mm = mms_[id];
  if (!belongs(cache, id)) return true;
  return stale_page(cache.pages, cpus_[cpu].host_flushed, mm, range, mm.version, false).has_value();
}

std::optional<u64> Truth::find_stale_page(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  const TaggedCache& cache = selected_cache(cpu);
  const TruthMm& mm = mms_[hw.uses];
  if (!belongs(cache, hw.uses)) return 0;
  for (const TruthEvent& request : mm.requests) {
    if (!request.returned) continue;
    if (const auto va =
            stale_page(cache.pages, hw.host_flushed, mm, request.range, request.version, false))
      return va;
  }
  return std::nullopt;
}

std::optional<u64> Truth::find_freed_table(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  const TaggedCache& cache = selected_cache(cpu);
  const TruthMm& mm = mms_[hw.cr3_slot];
  if (!belongs(cache, hw.cr3_slot)) return 0;
  for (const TruthEvent& request : mm.requests) {
    if (!request.returned || !request.freed_tables) continue;
    if (const auto va =
            stale_page(cache.walks, hw.host_flushed, mm, request.range, request.version, true))
      return va;
  }
  return std::nullopt;
}

std::optional<u64> Truth::behind_generation(Cpu cpu, u64 pcid, MmId id, u64 tlb_gen) const {
  const TruthMm& mm = mms_[id];
  const TruthCpu& hw = cpus_[cpu];
  if (id == kInitMm || mm.requests.empty() || pcid >= hw.tags.size()) return std::nullopt;
  const TaggedCache& cache = hw.tags[pcid];
  if (cache.empty || tlb_gen < mm.requests.front().tlb_gen) return std::nullopt;
  if (!belongs(cache, id)) return 0;
  // Generations are made one by one, so a request stands at its generation's distance from the
  // first one remembered.
  const u64 last = std::min<u64>(tlb_gen - mm.requests.front().tlb_gen, mm.requests.size() - 1);
  if (cache.pages.base >= mm.requests[last].version) return std::nullopt;
  for (u64 at = 0; at <= last; ++at) {
    const TruthEvent& request = mm.requests[at];
    if (const auto va = stale_page(cache.pages, cpus_[cpu].host_flushed, mm, request.range,
                                   request.version, false))
      return va;
  }
  return std::nullopt;
}

}  // namespace hvtlb
