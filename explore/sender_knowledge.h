// What a sender still knows of what it has read while it chose whom to reach: otherwise every order
// in which it may have read the same would be another state.
#pragma once

#include <array>
#include <xxhash.h>

#include "explore/engine.h"
#include "flush/wire.h"
#include "model/cpumask.h"
#include "model/host_port.h"

namespace hvtlb::explore {

/// Too much forgotten would make two states one that go on differently. `check_merges()` finds that
/// out.
class SenderKnowledge {
 public:
  void attach(Engine& engine) { engine_ = &engine; }

  /// An operation begins.
  void begins(Cpu cpu) { senders_[cpu] = {}; }

  /// The targets are about to be chosen: what the routine has read up to here counts as long as it
  /// runs.
  void chooses(Cpu cpu) { senders_[cpu] = {engine_->knowledge(cpu)}; }

  /// No other CPU takes part.
  void chose_itself(Cpu cpu) { senders_[cpu].chooses = false; }

  /// The native path has chosen. That the builder trims at once (the request itself does not) is
  /// not among what was known before.
  void chose(Cpu cpu, const CpuMask& targets, bool trims) {
    u64 known = trims;
    targets.for_each([&](Cpu each) { known |= u64{2} << each; });
    knows(cpu, kChose, known);
  }

  /// The IPIs are under way. Who has not answered is the engine's affair.
  void sent(Cpu cpu, u32 targets, bool trims) {
    const u32 itself = targets & 1u << cpu;
    knows(cpu, kSent, u64{trims} << 2 | u64{itself != 0} << 1 | u64{targets != itself});
    senders_[cpu].chooses = false;
  }

  /// What the call says was chosen.
  void calls(Cpu cpu, u64 control, std::span<const u64> input) {
    const std::size_t words = std::min<std::size_t>(input.size(), hv::input_words(control));
    knows(cpu, kCalls, XXH3_64bits_withSeed(input.data(), words * sizeof(u64), control));
  }

  /// The host has the call. Where it has not taken effect yet is the engine's affair.
  void called(Cpu cpu, const HostEffect& effect) {
    const std::span<const AddressRange> ranges(effect.ranges);
    const u64 what = XXH3_64bits_withSeed(ranges.data(), ranges.size_bytes(), effect.everything);
    knows(cpu, kCalled, effect.result ^ what ^ effect.address_space);
    senders_[cpu].chooses = hv::result_status(effect.result) != hv::kStatusSuccess;
  }

  /// All of it has taken effect. With a result that is no success the sender goes on.
  void done(Cpu cpu, u64 result = 0) { knows(cpu, kDone, result); }

  /// Whether its operation has yet to choose whom to reach, if it does.
  bool still_chooses(Cpu cpu) const { return senders_[cpu].chooses; }

 private:
  enum Place : u64 { kChose = u64{1} << 33, kSent, kCalls, kCalled, kDone };

  struct Sender {
    u64 kept = 0;  ///< what it knew when it began to choose
    bool chooses = true;
  };

  void knows(Cpu cpu, Place place, u64 value) {
    engine_->knows_since(cpu, senders_[cpu].kept, place, value);
  }

  Engine* engine_ = nullptr;
  std::array<Sender, kMaxExploredCpus> senders_;
};

}  // namespace hvtlb::explore
