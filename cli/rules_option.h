// Rules from the command line: an era's name and FIELD=VALUE on top of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/comparison.h"

namespace hvtlb::cli {

/// What a name of an era ought to be: `expected one of ...`.
std::string expected_era();

/// What is wrong with a name that is no era's.
std::string unknown_era(std::string_view name);

/// A name that stands twice in the list, or nothing.
std::optional<std::string> named_twice(std::vector<std::string> names);

/// The era with the fields set; nothing, and one line in `error`, when a name is wrong.
std::optional<NamedRules> named_rules(const std::string& era, const std::vector<std::string>& set,
                                      std::string& error);

}  // namespace hvtlb::cli
