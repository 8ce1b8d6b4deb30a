#include "model/truth.h"

#include <algorithm>
#include <cassert>

namespace hvtlb {
namespace {

constexpr u32 kPgdShift = 20;  // Guest gives the mm in slot n the top table n * 0x100000
constexpr u64 kCr3Pcid = 0xfff;
constexpr u64 kCr3KeepEntries = u64{1} << 63;
constexpr u64 kCr3Address = 0x000ffffffffff000;
constexpr u64 kCr3LamBits = u64{3} << 61;

/// Where a PCID's cache stands in `TruthCpu::tags`: PCIDs of user halves are 2048 and more.
constexpr u64 tag_index(u64 pcid) {
  return 2 * (pcid & 0x7ff) + (pcid >> 11);
}

/// More ranges than this in one list of patches forget the oldest, which only makes the cache look
/// older.
constexpr u32 kMaxPatches = 4096;

AddressRange intersect(AddressRange a, AddressRange b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

/// Adds a patch, to the last one where it goes on where that ends.
void append(std::vector<CachePatch>& patches, const CachePatch& patch) {
  if (!patches.empty() && patches.back().version == patch.version &&
      patches.back().range.end == patch.range.start) {
    patches.back().range.end = patch.range.end;
    return;
  }
  if (patches.size() >= kMaxPatches)
    patches.erase(patches.begin(), patches.begin() + kMaxPatches / 2);
  patches.push_back(patch);
}

/// Drops the patches that are not newer than `version`: they stand in front.
void drop_until(std::vector<CachePatch>& patches, u64 version) {
  const auto newer = std::find_if(patches.begin(), patches.end(),
                                  [&](const CachePatch& p) { return p.version > version; });
  patches.erase(patches.begin(), newer);
}

AddressRange page_range(u64 va, u8 page_shift) {
  const u64 size = u64{1} << page_shift;
  const u64 start = va & ~(size - 1);
  return {start, start + size < start ? kTlbFlushAll : start + size};
}

/// The newest patch that touches `page`, if it is at least as new as `version`: to invalidate any
/// address of a page is to invalidate the page.
const AddressRange* touching(std::span<const CachePatch> patches, AddressRange page, u64 version) {
  for (auto p = patches.rbegin(); p != patches.rend() && p->version >= version; ++p)
    if (p->range.start < page.end && page.start < p->range.end) return &p->range;
  return nullptr;
}

/// What a paging-structure entry of the last level maps: the least that leaves the cache together.
constexpr u8 kTableShift = 21;

u8 unit_of(const TruthEvent& change, bool walks) {
  return walks ? std::max(change.page_shift, kTableShift) : change.page_shift;
}

}  // namespace

Truth::Truth(u32 nr_cpus) : cpus_(nr_cpus), host_flushes_(nr_cpus) {
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

void Truth::pte_change(MmId id, AddressRange range, bool freed_tables, u8 page_shift) {
  TruthMm& mm = mms_[id];
  mm.version = ++now_;
  const u8 shift = std::max<u8>(page_shift, kPageShift);
  remember(mm.changes, mm, {mm.version, 0, range, shift, freed_tables, false});
}

void Truth::flush_requested(MmId id, u64 tlb_gen, AddressRange range, bool freed_tables) {
  TruthMm& mm = mms_[id];
  remember(mm.requests, mm, {mm.version, tlb_gen, range, kPageShift, freed_tables, false});
}

/// The newest request of that generation, if it is remembered.
TruthEvent* Truth::request_of(TruthMm& mm, u64 tlb_gen) {
  for (std::size_t at = mm.requests.size(); at-- > 0;)
    if (mm.requests[at].tlb_gen == tlb_gen) return &mm.requests[at];
  return nullptr;
}

void Truth::request_covers_newest(MmId id, u64 tlb_gen) {
  TruthMm& mm = mms_[id];
  if (TruthEvent* request = request_of(mm, tlb_gen)) request->version = mm.version;
}

void Truth::tables_freed(MmId id, u64 tlb_gen) {
  TruthMm& mm = mms_[id];
  TruthEvent* request = request_of(mm, tlb_gen);
  if (request == nullptr || !request->freed_tables) return;
  request->tables_usable = true;
  mm.required_walks = std::max(mm.required_walks, request->version);
}

void Truth::flush_returned(MmId id, u64 tlb_gen) {
  TruthMm& mm = mms_[id];
  TruthEvent* request = request_of(mm, tlb_gen);
  if (request == nullptr) return;
  request->returned = true;
  mm.required_pages = std::max(mm.required_pages, request->version);
  tables_freed(id, tlb_gen);
}

TaggedCache& Truth::tag(Cpu cpu, u64 index) {
  auto& tags = cpus_[cpu].tags;
  if (index >= tags.size()) tags.resize(index + 1);
  return tags[index];
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
  hw.pcid = tag_index(cr3 & kCr3Pcid);
  hw.lam_bits = cr3 & kCr3LamBits;
  TaggedCache& cache = tag(cpu, hw.pcid);
  if ((cr3 & kCr3KeepEntries) != 0 && !cache.empty) {
    settle(cache, cpu);
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
  hw.pcid = tag_index(1);
  make_fresh(tag(cpu, hw.pcid));
}

void Truth::patch(CacheAge& age, AddressRange range) const {
  if (age.base < now_) append(age.patches, {range, now_});
}

/// The first address of `range`, mapped by pages of `page_shift`, that no flush of at least
/// `version` covers.
std::optional<u64> Truth::uncovered(const CacheAge& age, Cpu cpu, AddressRange range, u64 version,
                                    u8 page_shift) const {
  for (u64 at = range.start; at < range.end;) {
    const AddressRange page = page_range(at, page_shift);
    const AddressRange* flushed = touching(age.patches, page, version);
    if (flushed == nullptr) flushed = host_flushes_.touching(cpu, page, version);
    if (flushed == nullptr) return at;
    at = std::max(page.end, page_range(flushed->end, page_shift).start);
  }
  return std::nullopt;
}

/// Moves the base over every change that is covered by now; then most patches say nothing new.
void Truth::settle(CacheAge& age, Cpu cpu, const TruthMm& mm, bool walks) const {
  if (age.base < mm.forgotten) return;
  std::size_t at = mm.changes.size();
  while (at > 0 && mm.changes[at - 1].version > age.base) --at;
  for (; at < mm.changes.size(); ++at) {
    const TruthEvent& change = mm.changes[at];
    if ((!walks || change.freed_tables) &&
        uncovered(age, cpu, change.range, change.version, unit_of(change, walks)))
      break;
    age.base = change.version;
  }
  drop_until(age.patches, age.base);
}

void Truth::settle(TaggedCache& cache, Cpu cpu) const {
  const TruthMm& mm = mms_[cache.mm_slot];
  if (cache.pages.base < mm.version) settle(cache.pages, cpu, mm, false);
  if (cache.walks.base < mm.version) settle(cache.walks, cpu, mm, true);
}

void Truth::invlpg(Cpu cpu, u64 va, u8 page_shift) {
  TaggedCache& cache = tag(cpu, cpus_[cpu].pcid);
  const AddressRange page = page_range(va, std::max<u8>(page_shift, kPageShift));
  patch(cache.pages, page);
  // INVLPG drops the paging-structure cache of the current PCID for all addresses.
  cache.walks.base = now_;
  cache.walks.patches.clear();
  // Ranges are invalidated upwards: before its last page the newest change is not covered.
  const TruthMm& mm = mms_[cache.mm_slot];
  if (!mm.changes.empty() && page.end >= mm.changes.back().range.end) settle(cache, cpu);
}

void Truth::flush_tag(Cpu cpu, TaggedCache& cache, bool everything,
                      std::span<const AddressRange> ranges) {
  if (cache.empty) return;
  const bool selected = &cache == &selected_cache(cpu);
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
  settle(cache, cpu);
}

/// Of all PCIDs' ages, only that of the selected one is asked for soon.
void Truth::note_host_flush(Cpu cpu, std::span<const AddressRange> ranges) {
  host_flushes_.note(cpu, now_, ranges);
  TruthCpu& hw = cpus_[cpu];
  settle(hw.tags[hw.pcid], cpu);
}

void Truth::host_flush(Cpu cpu, HostScope scope, u64 address_space, bool everything,
                       std::span<const AddressRange> ranges) {
  TruthCpu& hw = cpus_[cpu];
  if (scope == HostScope::kWholeTlb && !everything) return note_host_flush(cpu, ranges);
  const auto in_space = [&](u64 slot) {
    return address_space == kTlbFlushAll || address_space >> kPgdShift == slot;
  };
  for (u64 at = 0; at < hw.tags.size(); ++at) {
    const bool selected = at == hw.pcid;
    bool reached = true;
    switch (scope) {
      case HostScope::kWholeTlb: break;
      case HostScope::kAddressSpace: reached = in_space(hw.tags[at].mm_slot); break;
      case HostScope::kIfCr3Matches: reached = selected && in_space(hw.cr3_slot); break;
      case HostScope::kCurrentPcid: reached = selected; break;
    }
    if (!reached) continue;
    if (selected && everything) hw.tags[at].mm_slot = hw.cr3_slot;
    flush_tag(cpu, hw.tags[at], everything, ranges);
  }
}

void Truth::broadcast(Cpu cpu, bool every_pcid, u64 pcid, AddressRange range) {
  TruthCpu& hw = cpus_[cpu];
  for (u64 at = 0; at < hw.tags.size(); ++at)
    if (every_pcid || at == tag_index(pcid))
      flush_tag(cpu, hw.tags[at], range.end == kTlbFlushAll, {&range, 1});
}

std::optional<u64> Truth::stale_page(const CacheAge& age, Cpu cpu, const TruthMm& mm,
                                     AddressRange range, u64 version, bool walks) const {
  if (age.base >= version) return std::nullopt;
  if (age.base < mm.forgotten) return range.start;
  for (std::size_t at = mm.changes.size(); at-- > 0;) {
    const TruthEvent& change = mm.changes[at];
    if (change.version <= age.base) break;
    if (change.version > version || (walks && !change.freed_tables)) continue;
    const AddressRange both = intersect(change.range, range);
    if (const auto va = uncovered(age, cpu, both, change.version, unit_of(change, walks)))
      return va;
  }
  return std::nullopt;
}

bool Truth::may_hold_old(Cpu cpu, MmId id, AddressRange range) const {
  if (!selects(cpu, id)) return false;
  const TaggedCache& cache = selected_cache(cpu);
  const TruthMm& mm = mms_[id];
  if (!belongs(cache, id)) return true;
  return stale_page(cache.pages, cpu, mm, range, mm.version, false).has_value();
}

bool Truth::holds_only_new(Cpu cpu, u64 cr3) const {
  const TruthCpu& hw = cpus_[cpu];
  const u64 at = tag_index(cr3 & kCr3Pcid);
  const u64 id = (cr3 & kCr3Address) >> kPgdShift;
  if (id == kInitMm || at >= hw.tags.size()) return false;
  const TaggedCache& cache = hw.tags[at];
  const TruthMm& mm = mms_[id];
  if (cache.empty || !belongs(cache, id)) return false;
  return !stale_page(cache.pages, cpu, mm, {0, kTlbFlushAll}, mm.version, false) &&
         !stale_page(cache.walks, cpu, mm, {0, kTlbFlushAll}, mm.version, true);
}

std::optional<u64> Truth::find_stale_page(Cpu cpu) const {
  const TruthCpu& hw = cpus_[cpu];
  const TaggedCache& cache = selected_cache(cpu);
  const TruthMm& mm = mms_[hw.uses];
  if (!belongs(cache, hw.uses)) return 0;
  for (const TruthEvent& request : mm.requests) {
    if (!request.returned) continue;
    if (const auto va = stale_page(cache.pages, cpu, mm, request.range, request.version, false))
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
    if (!request.tables_usable) continue;
    if (const auto va = stale_page(cache.walks, cpu, mm, request.range, request.version, true))
      return va;
  }
  return std::nullopt;
}

std::optional<u64> Truth::behind_generation(Cpu cpu, u64 pcid, MmId id, u64 tlb_gen) const {
  const TruthMm& mm = mms_[id];
  const TruthCpu& hw = cpus_[cpu];
  if (id == kInitMm || mm.requests.empty() || tag_index(pcid) >= hw.tags.size())
    return std::nullopt;
  const TaggedCache& cache = hw.tags[tag_index(pcid)];
  if (cache.empty || tlb_gen < mm.requests.front().tlb_gen) return std::nullopt;
  if (!belongs(cache, id)) return 0;
  // Generations are made one by one, so a request stands at its generation's distance from the
  // first one remembered.
  const u64 last = std::min<u64>(tlb_gen - mm.requests.front().tlb_gen, mm.requests.size() - 1);
  if (cache.pages.base >= mm.requests[last].version) return std::nullopt;
  for (u64 at = 0; at <= last; ++at) {
    const TruthEvent& request = mm.requests[at];
    if (const auto va = stale_page(cache.pages, cpu, mm, request.range, request.version, false))
      return va;
  }
  return std::nullopt;
}

}  // namespace hvtlb
