#include "trace/replay_result.h"

#include <numeric>

namespace hvtlb {

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
  u64 count = 0;
  for (u32 at = 0; at < kNrTraceActions; ++at)
    if (trace_action_name(at) == "fmr" || trace_action_name(at) == "ntm") count += read.events[at];
  return count;
}

bool ReplayResult::enough() const {
  u64 switches = 0;
  for (u32 at = 0; at < kNrTraceActions; ++at)
    if (trace_action_name(at) == "swmm") switches += read.events[at];
  return flush_events() != 0 && switches != 0;
}

}  // namespace hvtlb
