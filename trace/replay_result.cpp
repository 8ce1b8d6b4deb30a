#include "trace/replay_result.h"

#include <numeric>

namespace hvtlb {
namespace {

u64 events_named(const ReadStats& read, std::string_view name) {
  u64 count = 0;
  for (u32 at = 0; at < kNrTraceActions; ++at)
    if (trace_action_name(at) == name) count += read.events[at];
  return count;
}

}  // namespace

std::string_view name_of(Knowledge knowledge) {
  static constexpr std::string_view kNames[kNrKnowledge] = {"exact", "bounded", "guessed"};
  return kNames[static_cast<u32>(knowledge)];
}

u64 EraTotals::needless() const {
  return std::accumulate(std::begin(excess), std::end(excess), u64{0});
}

u64 EraTotals::nr_violations() const {
  return std::accumulate(violations.begin(), violations.end(), u64{0});
}

u64 ReplayResult::flush_events() const {
  return events_named(read, "fmr") + mask_events();
}

u64 ReplayResult::mask_events() const {
  return events_named(read, "ntm");
}

bool ReplayResult::enough() const {
  return flush_events() != 0 && events_named(read, "swmm") != 0;
}

}  // namespace hvtlb
