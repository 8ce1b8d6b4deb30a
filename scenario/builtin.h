// The scenarios that come with the program, embedded so that they work after installing.
#pragma once

#include <span>
#include <string_view>

namespace hvtlb {

struct BuiltinScenario {
  std::string_view name;
  std::string_view text;  ///< the YAML
};

/// All of them, the regression first.
std::span<const BuiltinScenario> builtin_scenarios();

/// The one of that name, or null.
const BuiltinScenario* find_builtin_scenario(std::string_view name);

}  // namespace hvtlb
