// The ranges that hypercalls flushed in whole TLBs, noted once a call: one call may name every CPU,
// and on each of them it reaches every PCID. Part of the hardware truth.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "model/flush_tlb_info.h"
#include "model/types.h"

namespace hvtlb {

class HostFlushLog {
 public:
  /// More calls, or ranges, than this forget the older half, which only makes caches look older.
  static constexpr std::size_t kMaxCalls = 8192;
  static constexpr std::size_t kMaxRanges = 65536;

  explicit HostFlushLog(u32 nr_cpus) : nr_words_(words_for(nr_cpus)) {}

  /// On `cpu` nothing of `ranges` is older than `version`. REQUIRES: versions do not decrease.
  void note(Cpu cpu, u64 version, std::span<const AddressRange> ranges) {
    if (calls_.empty() || calls_.back().version != version || !is_last(ranges))
      add(version, ranges);
    cpus_[(calls_.size() - 1) * nr_words_ + cpu / kBitsPerWord] |= u64{1} << cpu % kBitsPerWord;
  }

  /// All of it as words; with an `order`, of at most 64 CPUs, the n-th of it stands for CPU n.
  void append_state(std::vector<u64>& state, std::span<const Cpu> order = {}) const {
    state.push_back(calls_.size());
    for (const Call& call : calls_) state.insert(state.end(), {call.version, call.first_range});
    for (const AddressRange& range : ranges_) state.insert(state.end(), {range.start, range.end});
    if (order.empty()) {
      state.insert(state.end(), cpus_.begin(), cpus_.end());
      return;
    }
    for (const u64 cpus : cpus_) {
      u64 ordered = 0;
      for (std::size_t at = 0; at < order.size(); ++at) ordered |= (cpus >> order[at] & 1) << at;
      state.push_back(ordered);
    }
  }

  /// The newest noted range of `cpu` that touches `page`, if it is at least as new as `version`.
  const AddressRange* touching(Cpu cpu, AddressRange page, u64 version) const {
    for (std::size_t call = calls_.size(); call-- > 0 && calls_[call].version >= version;) {
      if ((cpus_[call * nr_words_ + cpu / kBitsPerWord] >> cpu % kBitsPerWord & 1) == 0) continue;
      for (const AddressRange& range : ranges_of(call))
        if (range.start < page.end && page.start < range.end) return &range;
    }
    return nullptr;
  }

 private:
  struct Call {
    u64 version;
    std::size_t first_range;
  };

  std::span<const AddressRange> ranges_of(std::size_t call) const {
    const std::size_t end =
        call + 1 < calls_.size() ? calls_[call + 1].first_range : ranges_.size();
    return std::span(ranges_).subspan(calls_[call].first_range, end - calls_[call].first_range);
  }

  bool is_last(std::span<const AddressRange> ranges) const {
    const auto last = ranges_of(calls_.size() - 1);
    return std::equal(last.begin(), last.end(), ranges.begin(), ranges.end());
  }

  void add(u64 version, std::span<const AddressRange> ranges) {
    if (calls_.size() >= kMaxCalls || ranges_.size() >= kMaxRanges) forget_older_half();
    calls_.push_back({version, ranges_.size()});
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
    cpus_.resize(cpus_.size() + nr_words_);
  }

  void forget_older_half() {
    const auto half = static_cast<std::ptrdiff_t>(calls_.size() / 2);
    const std::size_t nr_ranges = calls_[calls_.size() / 2].first_range;
    cpus_.erase(cpus_.begin(), cpus_.begin() + half * nr_words_);
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(nr_ranges));
    calls_.erase(calls_.begin(), calls_.begin() + half);
    for (Call& call : calls_) call.first_range -= nr_ranges;
  }

  u32 nr_words_;
  std::vector<Call> calls_;  // ascending versions
  std::vector<AddressRange> ranges_;
  std::vector<u64> cpus_;  // `nr_words_` a call
};

}  // namespace hvtlb
