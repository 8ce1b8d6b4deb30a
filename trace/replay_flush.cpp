// What a flush of the recording comes to: compared with the kernel's own mask, made in every era,
// and added up.
#include <algorithm>

#include "trace/replay.h"

namespace hvtlb {
namespace {

/// Rows that are kept while reading; at the end all of them are there to be cut to a top list.
constexpr std::size_t kMaxMmRows = 1024;
constexpr std::size_t kMaxComms = 1024;
constexpr std::string_view kOtherComms = "(others)";

u64 first_word(u32 nr_cpus) {
  return nr_cpus >= kBitsPerWord ? ~u64{0} : (u64{1} << nr_cpus) - 1;
}

void add(EraTotals& totals, const FlushRecord& record, bool needed_known) {
  ++totals.flushes;
  totals.reached += record.sent.count();
  switch (record.outcome) {
    case Outcome::kNone: ++totals.nobody; break;
    case Outcome::kLocal: ++totals.local; break;
    case Outcome::kNative:
      ++totals.native;
      totals.ipis += record.nr_ipis();
      totals.trim_rounds += record.trim ? 1 : 0;
      switch (native_kind(record)) {
        case NativeKind::kPlain: break;
        case NativeKind::kPeriodicTrim: ++totals.periodic_trims; break;
        case NativeKind::kImmediateTrim: ++totals.immediate_trims; break;
        case NativeKind::kNoIpi: ++totals.no_ipi; break;
      }
      break;
    case Outcome::kHypercall:
      ++totals.by_hypercall;
      totals.hypercalls += record.hypercalls.size();
      totals.targets += record.sent.count();
      totals.all_processors += record.swept_by_all ? 1 : 0;
      break;
  }
  if (!needed_known) return;
  totals.needed += record.needed.count();
  totals.missed += record.missed().count();
  for (u32 at = 0; at < kNrExcess; ++at) totals.excess[at] += record.excess[at].count();
}

void add(FlushTally& tally, const std::vector<const FlushRecord*>& eras, bool needed_known) {
  ++tally.flushes;
  for (std::size_t at = 0; at < eras.size(); ++at) {
    tally.reached[at] += eras[at]->sent.count();
    if (needed_known) tally.needless[at] += eras[at]->nr_excess();
  }
}

}  // namespace

/// `generation`: what the request's should be.
void Replay::compare(const TraceEvent& event, const FlushMultiEvent& recorded_flush,
                     u64 generation) {
  Conformance& conformance = result_.conformance;
  MmLife& life = life_at(recorded_flush.mm);
  const u64 model = recorded().mm(life.slots.front()).cpumask.front();
  const u64 kernel = recorded_flush.mask & first_word(result_.nr_cpus);
  if (life.began_here || life.mask_confirmed) {
    ++conformance.masks;
    if (model == kernel) {
      ++conformance.masks_equal;
    } else if (conformance.first_mismatch_line == 0) {
      conformance.first_mismatch_line = event.line;
      conformance.first_mismatch_model = model;
      conformance.first_mismatch_recorded = kernel;
    }
  } else {
    ++conformance.masks_first_sight;
    adopt_mask(kernel, life);
  }
  if (life.began_here) {
    ++conformance.generations;
    if (generation == recorded_flush.new_tlb_gen) ++conformance.generations_equal;
  }
}

/// An mm from before the recording: its mask is the recorded one. In the lazy-bit eras it held at
/// least these CPUs.
void Replay::adopt_mask(u64 mask, MmLife& life) {
  life.mask_confirmed = cpus_.size() <= kBitsPerWord;
  const u32 nr_bits = std::min<u32>(result_.nr_cpus, kBitsPerWord);
  for (Cpu cpu = 0; cpu < nr_bits; ++cpu) {
    const bool member = (mask & bit_of(cpu)) != 0;
    for (std::size_t at = 0; member && at < worlds_.size(); ++at)
      worlds_[at]->add_to_mask(cpu, life.slots[at]);
    if (!member && !recorded().has_loaded(cpu, life.slots.front()))
      recorded().remove_from_mask(cpu, life.slots.front());
  }
}

Knowledge Replay::knowledge_of(Cpu cpu, const MmLife& life, bool recorded_era) {
  if (cpus_[cpu].state != CpuView::State::kKnown) return Knowledge::kGuessed;
  if (life.began_here) return Knowledge::kExact;
  if (!recorded_era || !life.mask_confirmed) return Knowledge::kBounded;
  bool all_known = true;
  recorded().cpumask(life.slots.front()).for_each([&](Cpu member) {
    all_known &= cpus_[member].state == CpuView::State::kKnown;
  });
  return all_known ? Knowledge::kExact : Knowledge::kBounded;
}

/// exit_mmap()'s flush: everything, tables freed, by a task that does not run the mm any more.
/// (fork flushes as much, with stride 0, and a nested gather does, both from inside.)
bool Replay::is_last_flush(Cpu cpu, const CpuView::Pending& call, const MmLife& life) {
  const FlushRangeEvent& request = call.request;
  if (request.end != kTlbFlushAll || !request.freed_tables || request.stride_shift == 0)
    return false;
  if (cpus_[cpu].state != CpuView::State::kKnown) return false;
  const bool inside = recorded().has_loaded(cpu, life.slots.front()) && !recorded().is_lazy(cpu);
  return !inside && lives_.may_leave(life, call.pid);
}

CpuMask Replay::lazily_loaded_by(const MmLife& life) const {
  CpuMask lazy(result_.nr_cpus);
  for (Cpu cpu = 0; cpu < result_.nr_cpus; ++cpu)
    if (recorded().is_lazy(cpu) && recorded().has_loaded(cpu, life.slots.front())) lazy.set(cpu);
  return lazy;
}

CpuMask Replay::leaving_now(const MmLife& life) const {
  CpuMask leaving(result_.nr_cpus);
  for (Cpu cpu = 0; cpu < result_.nr_cpus; ++cpu)
    if (cpus_[cpu].leaving && cpus_[cpu].leaving->serial == life.serial) leaving.set(cpu);
  return leaving;
}

/// See `CpuView::Leaving`: flushes that overlap see each other's CPUs.
void Replay::keep_leaving_in_mask(const CpuMask& lazy_before, MmLife& life) {
  if (recorded().rules.prev_bit != PrevBit::kCleared) return;
  const MmId slot = life.slots.front();
  lazy_before.for_each([&](Cpu cpu) {
    if (recorded().has_loaded(cpu, slot)) return;
    cpus_[cpu].leaving = {life.pointer, life.serial};
    recorded().add_to_mask(cpu, slot);
  });
}

void Replay::flush(Cpu cpu, const CpuView::Pending& call, std::optional<u64> recorded_mask) {
  MmLife& life = life_at(call.request.mm);
  if (is_last_flush(cpu, call, life)) life.dying = true;
  if (life.comm.empty()) life.comm = call.comm;
  ReplayedFlush flushed;
  flushed.line = call.line;
  flushed.time_ns = call.time_ns;
  flushed.cpu = cpu;
  flushed.comm = call.comm;
  flushed.mm_serial = life.serial;
  flushed.request = &call.request;
  flushed.recorded_mask = recorded_mask;
  flushed.knowledge = knowledge_of(cpu, life, true);
  const CpuMask lazy_before = lazily_loaded_by(life);
  for (std::size_t at = 0; at < worlds_.size(); ++at) {
    const Knowledge knowledge = at == 0 ? flushed.knowledge : knowledge_of(cpu, life, false);
    ++result_.eras[at].knowledge[static_cast<u32>(knowledge)];
    flushed.eras.push_back(&worlds_[at]->flush_mm_range(cpu, life.slots[at], call.request));
  }
  FlushRecord overlapping;
  if (const CpuMask leaving = leaving_now(life); call.request.freed_tables && leaving.any()) {
    // Flushes overlap: when this one was sent, the kernel's handlers had not run on these CPUs yet.
    overlapping = *flushed.eras.front();
    overlapping.needed |= leaving & overlapping.sent;
    overlapping.excess[static_cast<u32>(Excess::kStale)] -= leaving;
    flushed.eras.front() = &overlapping;
  }
  keep_leaving_in_mask(lazy_before, life);
  tally(flushed, &life);
}

void Replay::flush_batch(const TraceEvent& event, const FlushMultiEvent& recorded_flush) {
  ++result_.conformance.masks_batched;
  std::vector<u64> mask(words_for(result_.nr_cpus));
  mask.front() = recorded_flush.mask & first_word(result_.nr_cpus);
  ReplayedFlush flushed;
  flushed.line = event.line;
  flushed.time_ns = event.time_ns;
  flushed.cpu = event.cpu;
  flushed.comm = event.comm;
  flushed.recorded_mask = mask.front();
  flushed.knowledge = Knowledge::kGuessed;
  for (std::size_t at = 0; at < worlds_.size(); ++at) {
    ++result_.eras[at].knowledge[static_cast<u32>(Knowledge::kGuessed)];
    flushed.eras.push_back(&worlds_[at]->flush_batch(event.cpu, mask));
  }
  tally(flushed, nullptr);
}

FlushTally& Replay::tally_of_comm(std::string_view comm) {
  const bool full = result_.by_comm.size() >= kMaxComms;
  std::string name(comm);
  if (full && !result_.by_comm.contains(name)) name = kOtherComms;
  FlushTally& tally = result_.by_comm[name];
  tally.reached.resize(worlds_.size());
  tally.needless.resize(worlds_.size());
  return tally;
}

void Replay::tally(const ReplayedFlush& flushed, MmLife* life) {
  const bool needed_known = life != nullptr;
  for (std::size_t at = 0; at < worlds_.size(); ++at) {
    const FlushRecord& record = *flushed.eras[at];
    add(result_.eras[at], record, needed_known);
    record.sent.for_each([&](Cpu cpu) {
      if (cpu == flushed.cpu) return;
      ++result_.victims[cpu].reached[at];
      if (needed_known && !record.needed.test(cpu)) ++result_.victims[cpu].needless[at];
    });
  }
  if (life != nullptr) add(life->tally, flushed.eras, needed_known);
  add(tally_of_comm(flushed.comm), flushed.eras, needed_known);
  if (on_flush_) on_flush_(flushed);
}

/// Keeps the rows with the most CPUs reached under the second era (the recorded one if alone).
void Replay::keep_top_mms(bool sort) {
  std::vector<MmRow>& rows = result_.by_mm;
  if (!sort && rows.size() < kMaxMmRows) return;
  const std::size_t era = worlds_.size() > 1 ? 1 : 0;
  std::sort(rows.begin(), rows.end(), [era](const MmRow& a, const MmRow& b) {
    const u64 reached_a = a.tally.reached[era];
    const u64 reached_b = b.tally.reached[era];
    return reached_a != reached_b ? reached_a > reached_b : a.serial < b.serial;
  });
  if (rows.size() > kMaxMmRows / 2) rows.resize(kMaxMmRows / 2);
}

ReplayResult Replay::finish(const ReadStats& read) {
  for (Cpu cpu = 0; cpu < cpus_.size(); ++cpu) settle_pending(cpu);
  for (auto& [pointer, life] : lives_.all())
    if (life.tally.flushes != 0) result_.by_mm.push_back({life.serial, life.comm, life.tally});
  keep_top_mms(true);
  for (std::size_t at = 0; at < worlds_.size(); ++at) {
    result_.eras[at].violations = worlds_[at]->violations();
    result_.eras[at].first_violation = worlds_[at]->first_violation();
  }
  result_.read = read;
  result_.duration_ns = first_ns_ ? last_ns_ - *first_ns_ : 0;
  return std::move(result_);
}

}  // namespace hvtlb
