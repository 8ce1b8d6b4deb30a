// What a sender still knows of what it has read while it chose whom to reach: otherwise every order
// in which it may have read the same would be another state.
#pragma once

#include <array>
#include <xxhash.h>

#include "explore/engine.h"
#include "flush/wire.h"
#include "model/cpumask.h"

namespace hvtlb::explore {

/// Too much forgotten would make two states one that go on differently. `check_merges()` finds that
/// out.
class SenderKnowledge {
 public:
  void attach(Engine& engine) { engine_ = &engine; }

  /// All that the routine has read up to here counts as long as it runs: an operation begins, the
  /// request has its generation, or a broadcast is under way that has to be waited for.
  void keeps_all(Cpu cpu) { senders_[cpu] = {engine_->knowledge(cpu)}; }

  /// The targets are about to be chosen.
  void chooses(Cpu cpu, bool trims) { senders_[cpu].trims = trims; }

  /// The native path has chosen.
  void chose(Cpu cpu, const CpuMask& targets, bool trims) {
    u64 known = trims;
    targets.for_each([&](Cpu each) { known |= u64{2} << each; });
    engine_->knows_since(cpu, senders_[cpu].kept, kChose, known);
  }

  /// What the call says was chosen. When it fails it still matters whether the request trims.
  void calls(Cpu cpu, u64 control, std::span<const u64> input) {
    const std::size_t words = std::min<std::size_t>(input.size(), hv::input_words(control));
    const u64 known = XXH3_64bits_withSeed(input.data(), words * sizeof(u64), control);
    engine_->knows_since(cpu, senders_[cpu].kept, kCalls, known ^ u64{senders_[cpu].trims});
  }

  /// All of them have answered.
  void sent(Cpu cpu) { engine_->knows_since(cpu, senders_[cpu].kept, kSent, 0); }
  void called(Cpu cpu, u64 result) {
    engine_->knows_since(cpu, senders_[cpu].kept, kCalled, result << 1 | u64{senders_[cpu].trims});
  }

 private:
  enum Place : u64 { kChose = u64{1} << 33, kSent, kCalls, kCalled };

  struct Sender {
    u64 kept = 0;  ///< what it knew when it was last to keep all
    bool trims = false;
  };

  Engine* engine_ = nullptr;
  std::array<Sender, kMaxExploredCpus> senders_;
};

}  // namespace hvtlb::explore
