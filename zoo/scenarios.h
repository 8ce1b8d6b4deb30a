// The files of zoo/scenarios/ and zoo/litmus/, embedded.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace hvtlb::zoo {

/// The YAML of `scenarios/ID.yaml`, or nothing.
std::string_view scenario_text(std::string_view id);

/// The name and the YAML of every file of `litmus/`, by name.
std::span<const std::pair<std::string_view, std::string_view>> litmuses();

/// The YAML of `litmus/ID.yaml`, or nothing.
std::string_view litmus_text(std::string_view id);

}  // namespace hvtlb::zoo
