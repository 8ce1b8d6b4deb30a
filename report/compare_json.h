// A comparison as JSON: docs/schema/compare.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/comparison.h"

namespace hvtlb {

/// All runs as one object. `rows` limits the flushes listed per era.
nlohmann::json compare_json(const std::vector<Comparison>& runs, std::size_t rows,
                            const CostModel* cost);

}  // namespace hvtlb
