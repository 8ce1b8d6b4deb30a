// The states that were seen, by their hash: an open-addressing table that doubles.
#pragma once

#include <cstddef>
#include <vector>

#include "explore/engine.h"

namespace hvtlb::explore {

class Visited {
 public:
  Visited() : slots_(1024) {}

  /// Whether the state is new.
  bool insert(StateHash hash) {
    if (hash == StateHash{}) hash.low = 1;  // an empty slot is all zeros
    if ((size_ + 1) * 2 > slots_.size()) grow();
    StateHash& slot = find(hash);
    if (slot == hash) return false;
    slot = hash;
    ++size_;
    return true;
  }

  /// Says that the state will be inserted soon: its slot is rarely in a cache.
  void prefetch(const StateHash& hash) const {
    __builtin_prefetch(&slots_[hash.low & (slots_.size() - 1)]);
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return slots_.size() * sizeof(StateHash); }

 private:
  StateHash& find(const StateHash& hash) {
    for (std::size_t at = hash.low;; ++at) {
      StateHash& slot = slots_[at & (slots_.size() - 1)];
      if (slot == hash || slot == StateHash{}) return slot;
    }
  }

  void grow() {
    std::vector<StateHash> old(slots_.size() * 2);
    old.swap(slots_);
    for (const StateHash& hash : old)
      if (hash != StateHash{}) find(hash) = hash;
  }

  std::vector<StateHash> slots_;
  std::size_t size_ = 0;
};

}  // namespace hvtlb::explore
