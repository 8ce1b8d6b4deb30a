// The memory that the explored CPUs share: sequentially consistent, or x86-TSO. The whole model is
// here; what a LOCKed operation or an interrupt has to wait for is said in step.h.
//
// x86-TSO (Sewell, Sarkar, Owens, Nardelli, Myreen: "x86-TSO: a rigorous and usable programmer's
// model for x86 multiprocessors", 2010):
//   - a plain store enters the CPU's own buffer, a queue;
//   - a load gives the newest buffered store of its own CPU to that word, else memory;
//   - at any moment the oldest store of a buffer may reach memory, where all CPUs see it at once;
//   - LOCKed operations and fences happen only when the CPU's buffer is empty.
#pragma once

#include <span>
#include <vector>

#include "model/policy.h"
#include "model/types.h"

namespace hvtlb::explore {

enum class MemoryModel : u8 { kSc, kTso };

/// A store that other CPUs do not see yet.
struct BufferedStore {
  u64* word;
  u64 value;
  u32 note;  ///< what its arrival means beyond the word (a page-table change); 0: nothing
};

class SharedMemory {
 public:
  SharedMemory(MemoryModel model, u32 nr_cpus) : model_(model), buffers_(nr_cpus) {}

  MemoryModel model() const { return model_; }

  u64 load(Cpu cpu, const u64& word) const {
    const std::vector<BufferedStore>& buffer = buffers_[cpu];
    for (auto store = buffer.rbegin(); store != buffer.rend(); ++store)
      if (store->word == &word) return store->value;
    return word;
  }

  /// Whether the store is visible at once.
  bool store(Cpu cpu, u64& word, u64 value, u32 note = 0) {
    if (model_ == MemoryModel::kTso) {
      buffers_[cpu].push_back({&word, value, note});
      return false;
    }
    word = value;
    return true;
  }

  /// Returns the value before. REQUIRES: empty(cpu).
  static u64 locked(u64& word, RmwOp op, u64 value) {
    const u64 before = word;
    word = combined(op, before, value);
    return before;
  }

  bool empty(Cpu cpu) const { return buffers_[cpu].empty(); }
  std::span<const BufferedStore> buffer(Cpu cpu) const { return buffers_[cpu]; }

  /// The oldest store of the buffer reaches memory. REQUIRES: !empty(cpu).
  BufferedStore drain(Cpu cpu) {
    const BufferedStore store = buffers_[cpu].front();
    buffers_[cpu].erase(buffers_[cpu].begin());
    *store.word = store.value;
    return store;
  }

  void clear() {
    for (std::vector<BufferedStore>& buffer : buffers_) buffer.clear();
  }

 private:
  MemoryModel model_;
  std::vector<std::vector<BufferedStore>> buffers_;  // by CPU, oldest first; a few stores each
};

}  // namespace hvtlb::explore
