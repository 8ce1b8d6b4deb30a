// P7 in every interleaving: the bytes of each hypercall, read by the independent decoder.
#pragma once

#include <optional>
#include <unordered_set>
#include <xxhash.h>

#include "flush/wire.h"
#include "model/checks.h"
#include "scenario/wire_checks.h"

namespace hvtlb::explore {

class WireJudge {
 public:
  /// `guest` must outlive the judge; its VP numbering does not change.
  explicit WireJudge(const Guest& guest) : wire_(guest) {}

  /// Whether every host does what the bytes name at face value, for the pages of the request.
  /// Whether they name the right CPUs is for P1 and P2 to say.
  std::optional<Violation> judge(Cpu cpu, const FlushTlbInfo& request, u64 control,
                                 std::span<const u64> input, const CpuMask& named) {
    const u64 call = digest_of(request, control, input);
    if (good_.contains(call)) return std::nullopt;  // every schedule makes the same few calls
    WireReport wire = wire_.check(control, input, {request, named});
    if (wire.empty_set && !wire.too_long)  // zoo Z14; for nobody no set would have been built
      wire.broken = "the set has no banks: a host that answers success flushes nobody";
    if (!wire.broken.empty())
      return Violation{Property::kP7, cpu, request.mm, wire.too_long ? kInputPageBytes : 0,
                       wire.broken};
    if (good_.size() >= kMostGood) good_.clear();
    good_.insert(call);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMostGood = 4096;

  /// The words that the control word declares, the one behind the page, and the request's pages.
  static u64 digest_of(const FlushTlbInfo& request, u64 control, std::span<const u64> input) {
    const std::size_t words = std::min<std::size_t>(input.size(), hv::input_words(control));
    const u64 call[] = {control, XXH3_64bits(input.data(), words * sizeof(u64)), input.back(),
                        request.start, request.end};
    return XXH3_64bits(call, sizeof call);
  }

  const WireChecker wire_;
  std::unordered_set<u64> good_;
};

}  // namespace hvtlb::explore
