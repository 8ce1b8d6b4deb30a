#include "fuzz/decode_target.h"

#include <algorithm>
#include <fmt/format.h>

#include "fuzz/decode_input.h"
#include "host/profile.h"

namespace hvtlb::fuzz {
namespace {

constexpr u32 kMostRanges = 4095;

/// What is wrong with an answer, or nothing.
std::string_view wrong_with(const host::Reaction& reaction, const DecodeInput& input,
                            std::span<const u32> sorted_vps, bool tlfs) {
  const auto& flushed = reaction.flushed;
  const u32 reps = host::Control(input.control()).rep_count();
  if (std::adjacent_find(flushed.begin(), flushed.end(), std::greater_equal<>()) != flushed.end())
    return "the flushed VPs are not in ascending order";
  if (!std::includes(sorted_vps.begin(), sorted_vps.end(), flushed.begin(), flushed.end()))
    return "a VP is flushed that does not exist";
  if (reaction.ranges.size() > kMostRanges) return "more ranges than a call can name";
  if (reaction.ranges.size() > reps) return "more ranges than the control word says";
  if (reaction.everything && !reaction.ranges.empty()) return "everything, and ranges as well";
  if (reaction.reps_completed > reps) return "more reps are done than there were";
  for (const host::Range& range : reaction.ranges)
    if (range.pages == 0) return "a range of no pages";
  const auto& errors = reaction.all_errors;
  if (!tlfs && !errors.empty()) return "all errors are told, by a host that tells one";
  if (std::adjacent_find(errors.begin(), errors.end(), std::greater_equal<>()) != errors.end())
    return "the errors are not in ascending order";
  if (reaction.status == host::kSuccess) return errors.empty() ? "" : "a success with errors";
  if (!errors.empty() && errors.front() != reaction.status)
    return "the status is not the first error";
  if (!flushed.empty() || reaction.everything || !reaction.ranges.empty())
    return "an error that flushes";
  if (reaction.reps_completed != 0) return "an error that completes reps";
  return "";
}

}  // namespace

Finding run_decode(std::span<const u8> bytes, const host::Faults& faults) {
  const DecodeInput input(bytes);
  std::vector<u32> sorted_vps(input.vps().begin(), input.vps().end());
  std::sort(sorted_vps.begin(), sorted_vps.end());
  for (const host::Profile profile : host::kProfiles) {
    const host::Reaction reaction =
        host::decode(profile, input.control(), input.input(), input.vps(), kVpInvalid, faults);
    const bool tlfs = profile == host::Profile::tlfs;
    const std::string_view wrong = wrong_with(reaction, input, sorted_vps, tlfs);
    if (!wrong.empty()) return fmt::format("{}: {}", host::name_of(profile), wrong);
  }
  return std::nullopt;
}

}  // namespace hvtlb::fuzz
