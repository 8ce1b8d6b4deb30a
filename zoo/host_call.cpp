#include "zoo/host_call.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fmt/format.h>

namespace hvtlb::zoo {
namespace {

using host::Faults;
using host::Profile;

constexpr u64 control_of(u16 code, u64 reps, u64 banks) {
  return code | banks << 17 | reps << 32;
}
constexpr u16 kSpaceEx = 0x13;
constexpr u16 kList = 0x03;
constexpr u16 kListEx = 0x14;
constexpr u64 kFormatAll = 1;
constexpr u64 kNotCanonical = 0x0000900000000000;
constexpr u64 kPage = 0x00007f0000000000;

const std::vector<HostCall>& calls() {
  static const std::vector<HostCall> kCalls = [] {
    std::vector<HostCall> list;
    list.push_back({"Z31",
                    Profile::kvm,
                    {.all_needs_banks = true},
                    control_of(kSpaceEx, 0, 0),
                    {0x1000, 0, kFormatAll, 0},
                    {0, 1, 2}});
    list.push_back({"Z32",
                    Profile::kvm,
                    {.non_canonical_passed = true},
                    control_of(kList, 2, 0),
                    {0x1000, 0, 0x6, kNotCanonical, kPage},
                    {0, 1, 2}});
    list.push_back({"Z32-stop",
                    Profile::kvm,
                    {.non_canonical_stops = true},
                    control_of(kList, 2, 0),
                    {0x1000, 0, 0x6, kNotCanonical, kPage},
                    {0, 1, 2}});
    list.push_back({"Z33",
                    Profile::kvm,
                    {.list_behind_header = true},
                    control_of(kListEx, 1, 1),
                    {0x1000, 0, kFormatAll, 0x1, 0x6, kPage},
                    {0, 1, 2}});
    HostCall cut{"Z33-cut",        Profile::kvm, {.long_list_cut = true}, control_of(kList, 20, 0),
                 {0x1000, 0, 0x6}, {0, 1, 2}};
    for (u64 entry = 0; entry < 20; ++entry) cut.input.push_back(kPage + entry * kPageSize);
    list.push_back(std::move(cut));
    list.push_back({"Z35",
                    Profile::xen,
                    {.vps_unbounded = true},
                    control_of(kSpaceEx, 0, 1),
                    {0x1000, 0, 0, u64{1} << 63, u64{1} << 63},
                    {0, 1, 2}});
    return list;
  }();
  return kCalls;
}

host::Reaction react(const HostCall& call, const Faults& faults) {
  const auto* bytes = reinterpret_cast<const u8*>(call.input.data());
  const auto input = host::Input::memory({bytes, 8 * call.input.size()}, 0);
  return host::decode(call.profile, call.control, input, call.vps, call.vps.front(), faults);
}

}  // namespace

const HostCall& host_call_of(const Entry& entry) {
  assert(entry.kind == Kind::kHost);
  return *std::find_if(calls().begin(), calls().end(),
                       [&](const HostCall& call) { return call.id == entry.id; });
}

std::string difference(const host::Reaction& faulty, const host::Reaction& correct,
                       std::span<const u32> existing_vps) {
  if (faulty.status != correct.status)
    return fmt::format("status {} instead of {}", faulty.status, correct.status);
  for (const u32 vp : faulty.flushed)
    if (std::find(existing_vps.begin(), existing_vps.end(), vp) == existing_vps.end())
      return fmt::format("VP {} does not exist and is written to", vp);
  for (const u32 vp : correct.flushed)
    if (!std::binary_search(faulty.flushed.begin(), faulty.flushed.end(), vp))
      return fmt::format("VP {} is not flushed", vp);
  if (faulty.flushed.size() != correct.flushed.size()) return "VPs are flushed that nobody named";
  if (correct.everything && !faulty.everything)
    return fmt::format("{} of the list's entries are flushed, not everything",
                       faulty.ranges.size());
  for (const host::Range& range : correct.ranges)
    if (std::find(faulty.ranges.begin(), faulty.ranges.end(), range) == faulty.ranges.end())
      return fmt::format("page {:#x} is not flushed", range.start);
  for (const host::Range& range : faulty.ranges)
    if (std::find(correct.ranges.begin(), correct.ranges.end(), range) == correct.ranges.end())
      return fmt::format("{:#x}, which no flush may be given, is flushed", range.start);
  return faulty.everything != correct.everything ? "everything is flushed" : "";
}

Outcome run_host_call(const Entry& entry) {
  const HostCall& call = host_call_of(entry);
  // The correct decoder is the twin; the specification's text says what it has to reach.
  const host::Reaction correct = react(call, {});
  Outcome outcome;
  if (correct.status != host::kSuccess) outcome.twin = "the correct decoder refuses the call";
  outcome.variant = difference(react(call, call.faults), correct, call.vps);
  return outcome;
}

}  // namespace hvtlb::zoo
