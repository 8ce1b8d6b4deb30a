// The sentences under a replay's totals: what another era would have changed.
#pragma once

#include <string>
#include <vector>

#include "trace/replay_result.h"

namespace hvtlb {

/// One sentence or two for each pair of eras worth comparing. Empty without flushes.
std::vector<std::string> explain_replay(const ReplayResult& result);

/// `85.1 %`; only all of them are `100 %`, only none of them `0 %`.
std::string percent_text(u64 part, u64 whole);

}  // namespace hvtlb
