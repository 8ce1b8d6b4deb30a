// The scenarios of zoo/scenarios/, embedded.
#pragma once

#include <string_view>

namespace hvtlb::zoo {

/// The YAML of `scenarios/ID.yaml`, or nothing.
std::string_view scenario_text(std::string_view id);

}  // namespace hvtlb::zoo
