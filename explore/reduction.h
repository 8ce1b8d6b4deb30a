// Partial-order reduction: where one CPU's next step is independent of everything that other CPUs
// may do before it, it is taken at once, and the other orders are left out.
#pragma once

#include <map>
#include <optional>

#include "explore/engine.h"

namespace hvtlb::explore {

class Reduction {
 public:
  /// The one action that stands for all of `enabled`, if there is one.
  std::optional<Action> only(const Engine& engine, u64 enabled);

  /// To be called before an action is performed: notes who writes what.
  void performing(const Engine& engine, Action action);

  /// Whether a word that was taken for one that nobody else writes has been written: the search
  /// has to begin anew, and now knows better.
  bool was_wrong() const { return was_wrong_; }
  void begin_anew() {
    was_wrong_ = false;
    for (auto& [address, word] : words_) word.trusting = 0, word.trusted_by_all = false;
  }

 private:
  struct Word {
    u32 writers = 0;
    u32 trusting = 0;             ///< CPUs that took a load of it for independent of the others
    bool trusted_by_all = false;  ///< a load was taken for independent of its own handlers, too
  };

  bool is_independent(const Engine& engine, Cpu cpu, const CpuStep& step);
  void writes(Cpu cpu, const u64* address);

  std::map<const u64*, Word> words_;
  bool was_wrong_ = false;
};

}  // namespace hvtlb::explore
