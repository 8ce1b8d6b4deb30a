// The truth as words, for searches that remember states.
#include "model/truth.h"

namespace hvtlb {
namespace {

void append(std::vector<u64>& state, const TruthEvents& some) {
  state.push_back(some.size());
  for (const TruthEvent& event : some)
    state.insert(state.end(), {event.version, event.tlb_gen, event.range.start, event.range.end,
                               u64{event.page_shift} << 3 | u64{event.tables_usable} << 2 |
                                   u64{event.freed_tables} << 1 | u64{event.returned}});
}

void append(std::vector<u64>& state, const CacheAge& cache) {
  state.insert(state.end(), {cache.base, cache.patches.size()});
  for (const CachePatch& each : cache.patches)
    state.insert(state.end(), {each.range.start, each.range.end, each.version});
}

void append(std::vector<u64>& state, const TruthMm& mm) {
  state.insert(state.end(),
               {mm.life, mm.version, mm.forgotten, mm.required_pages, mm.required_walks});
  append(state, mm.changes);
  append(state, mm.requests);
}

void append(std::vector<u64>& state, const TaggedCache& cache, bool ages) {
  state.insert(state.end(), {cache.life, cache.mm_slot, u64{cache.empty}});
  if (cache.empty || !ages) return;
  append(state, cache.pages);
  append(state, cache.walks);
}

}  // namespace

void Truth::append_state(std::vector<u64>& state, std::span<const Cpu> order) const {
  state.push_back(now_);
  for (const TruthMm& mm : mms_) append(state, mm);
  for (Cpu cpu = 0; cpu < cpus_.size(); ++cpu) {
    const TruthCpu& hw = cpus_[order.empty() ? cpu : order[cpu]];
    state.insert(state.end(), {hw.cr3_slot, hw.pcid, hw.lam_bits, hw.uses, hw.tags.size()});
    for (const TaggedCache& cache : hw.tags) append(state, cache, true);
  }
  host_flushes_.append_state(state, order);
}

void Truth::append_state_of(MmId id, u32 cpus, std::vector<u64>& state) const {
  state.push_back(now_);
  append(state, mms_[id]);
  for (Cpu cpu = 0; cpu < cpus_.size(); ++cpu) {
    if ((cpus >> cpu & 1) == 0) continue;
    const TruthCpu& hw = cpus_[cpu];
    state.insert(state.end(), {hw.cr3_slot, hw.pcid, hw.uses, hw.tags.size()});
    for (const TaggedCache& cache : hw.tags) append(state, cache, cache.mm_slot == id);
  }
  host_flushes_.append_state(state);
}

}  // namespace hvtlb
