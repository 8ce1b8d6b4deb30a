// A replayed recording as JSON: docs/schema/replay.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trace/replay_result.h"

namespace hvtlb {

/// Everything but the single flushes.
nlohmann::json replay_json(const ReplayResult& result, const std::string& file);

/// One element of `flushes`.
nlohmann::json replayed_flush_json(const ReplayedFlush& flush);

}  // namespace hvtlb
