#include "model/truth.h"

#include <algorithm>
#include <cassert>

namespace hvtlb {
namespace {

constexpr u32 kPgdShift = 20;  // Guest gives the mm in slot n the top table n * 0x100000
constexpr u64 kCr3Pcid = 0xfff;
constexpr u64 kCr3KeepEntries = u64{1} << 63;
constexpr u64 kCr3Address = 0x000ffffffffff000;

/// More ranges than this in one cache's age forget the oldest, which only makes the cache look
/// older.
constexpr u32 kMaxPatches = 4096;

AddressRange intersect(AddressRange a, AddressRange b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

/// The first address of `range` that no patch of at least `version` covers.
std::optional<u64> uncovered(const CacheAge& age, AddressRange range, u64 version) {
  for (u64 at = range.start; at < range.end;) {
    const auto patch =
        std::find_if(age.patches.begin(), age.patches.end(), [&](const CacheAge::Patch& p) {
          return p.version >= version && p.range.start <= at && at < p.range.end;
        });
    if (patch == age.patches.end()) return at;
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
  mm.forgotten = ++mm.version;
  mm.required_pages = mm.required_walks = 0;
  mm.changes.clear();
  mm.requests.clear();
}

void Truth::remember(std::deque<TruthEvent>& events, TruthMm& mm, const TruthEvent& event) {
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
  remember(mm.changes, mm, {++mm.version, 0, range, freed_tables, false});
}

void Truth::flush_requested(MmId id, u64 tlb_gen, AddressRange range, bool freed_tables) {
  TruthMm& mm = mms_[id];
  remember(mm.requests, mm, {mm.version, tlb_gen, range, freed_tables, false});
}

void Truth::flush_returned(MmId id, u64 tlb_gen) {
  TruthMm& mm = mms_[id];
  for (auto request = mm.requests.rbegin(); request != mm.requests.rend(); ++request) {
    if (request->tlb_gen != tlb_gen) continue;
    request->returned = true;
    mm.required_pages = std::max(mm.required_pages, request->version);
    if (request->freed_tables) mm.required_walks = std::max(mm.required_walks, request->version);
    return;
  }
}

TaggedCache& Truth::tag(Cpu cpu, u64 pcid) {
  auto& tags = cpus_[cpu].tags;
  if (pcid >= tags.size()) tags.resize(pcid + 1);
  return tags[pcid];
}

const TaggedCache* Truth::selected_cache(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  return &hw.tags[hw.pcid];
}

void Truth::make_fresh(TaggedCache& cache) const {
  const TruthMm& mm = mms_[cache.mm_slot];
  cache.life = mm.life;
  cache.empty = false;
  cache.pages.base = cache.walks.base = mm.version;
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
  if ((cr3 & kCr3KeepEntries) != 0 && !cache.empty) return;
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

void Truth::patch(CacheAge& age, const TruthMm& mm, AddressRange range, bool walks) const {
  if (age.base == mm.version) return;
  if (!age.patches.empty() && age.patches.back().version == mm.version &&
      age.patches.back().range.end == range.start) {
    age.patches.back().range.end = range.end;
  } else {
    std::erase_if(age.patches,
                  [&](const CacheAge::Patch& p) { return intersect(p.range, range) == p.range; });
    if (age.patches.size() >= kMaxPatches) age.patches.erase(age.patches.begin());
    age.patches.push_back({range, mm.version});
  }
  // Move the base over every change that is covered by now; then most patches say nothing new.
  if (age.base < mm.forgotten) return;
  auto change = mm.changes.end();
  while (change != mm.changes.begin() && std::prev(change)->version > age.base) --change;
  for (; change != mm.changes.end(); ++change) {
    if ((!walks || change->freed_tables) && uncovered(age, change->range, change->version)) break;
    age.base = change->version;
  }
  std::erase_if(age.patches, [&](const CacheAge::Patch& p) { return p.version <= age.base; });
}

void Truth::invlpg(Cpu cpu, u64 va, u8 page_shift) {
  TaggedCache& cache = tag(cpu, cpus_[cpu].pcid);
  const TruthMm& mm = mms_[cache.mm_slot];
  patch(cache.pages, mm, page_range(va, page_shift), false);
  // INVLPG drops the paging-structure cache of the current PCID for all addresses.
  cache.walks.base = mm.version;
  cache.walks.patches.clear();
}

void Truth::flush_tag(TaggedCache& cache, bool everything, std::span<const AddressRange> ranges,
                      bool selected) {
  if (cache.empty) return;
  if (everything) {
    if (selected)
      make_fresh(cache);
    else
      cache = TaggedCache{};
    return;
  }
  const TruthMm& mm = mms_[cache.mm_slot];
  for (const AddressRange& range : ranges) {
    patch(cache.pages, mm, range, false);
    patch(cache.walks, mm, range, true);
  }
}

void Truth::host_flush(Cpu cpu, HostScope scope, u64 address_space, bool everything,
                       std::span<const AddressRange> ranges) {
  TruthCpu& hw = cpus_[cpu];
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
    if (reached) {
      if (selected && everything) hw.tags[pcid].mm_slot = hw.cr3_slot;
      flush_tag(hw.tags[pcid], everything, ranges, selected);
    }
  }
}

std::optional<u64> Truth::stale_page(const CacheAge& age, const TruthMm& mm, AddressRange range,
                                     u64 version, bool walks) const {
  if (age.base >= version) return std::nullopt;
  if (age.base < mm.forgotten) return range.start;
  for (auto change = mm.changes.rbegin(); change != mm.changes.rend(); ++change) {
    if (change->version <= age.base) break;
    if (change->version > version || (walks && !change->freed_tables)) continue;
    if (const auto va = uncovered(age, intersect(change->range, range), change->version)) return va;
  }
  return std::nullopt;
}

bool Truth::may_hold_old(Cpu cpu, MmId id, AddressRange range) const {
  if (!selects(cpu, id)) return false;
  const TaggedCache& cache = *selected_cache(cpu);
  const TruthMm& mm = mms_[id];
  if (cache.mm_slot != id || cache.life != mm.life) return true;
  return stale_page(cache.pages, mm, range, mm.version, false).has_value();
}

std::optional<u64> Truth::usable_stale_page(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  if (hw.uses == kInitMm || hw.cr3_slot != hw.uses) return std::nullopt;
  const TaggedCache& cache = *selected_cache(cpu);
  const TruthMm& mm = mms_[hw.uses];
  if (cache.mm_slot != hw.uses || cache.life != mm.life) return 0;
  if (cache.pages.base >= mm.required_pages) return std::nullopt;
  for (const TruthEvent& request : mm.requests) {
    if (!request.returned) continue;
    if (const auto va = stale_page(cache.pages, mm, request.range, request.version, false))
      return va;
  }
  return std::nullopt;
}

std::optional<u64> Truth::walkable_freed_table(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  if (hw.cr3_slot == kInitMm) return std::nullopt;
  const TaggedCache& cache = *selected_cache(cpu);
  const TruthMm& mm = mms_[hw.cr3_slot];
  if (cache.mm_slot != hw.cr3_slot || cache.life != mm.life) return 0;
  if (cache.walks.base >= mm.required_walks) return std::nullopt;
  for (const TruthEvent& request : mm.requests) {
    if (!request.returned || !request.freed_tables) continue;
    if (const auto va = stale_page(cache.walks, mm, request.range, request.version, true))
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
  if (cache.mm_slot != id || cache.life != mm.life) return 0;
  // Generations are made one by one, so a request stands at its generation's distance from the
  // first one remembered.
  const u64 last = std::min<u64>(tlb_gen - mm.requests.front().tlb_gen, mm.requests.size() - 1);
  if (cache.pages.base >= mm.requests[last].version) return std::nullopt;
  for (u64 at = 0; at <= last; ++at) {
    const TruthEvent& request = mm.requests[at];
    if (const auto va = stale_page(cache.pages, mm, request.range, request.version, false))
      return va;
  }
  return std::nullopt;
}

u64 CacheAge::at(u64 va) const {
  u64 version = base;
  for (const Patch& patch : patches)
    if (patch.range.start <= va && va < patch.range.end) version = std::max(version, patch.version);
  return version;
}

}  // namespace hvtlb
