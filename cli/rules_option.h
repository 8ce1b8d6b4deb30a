// Rules from the command line: an era's name and FIELD=VALUE on top of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/comparison.h"

namespace hvtlb::cli {

/// The era with the fields set; nothing, and one line in `error`, when a name is wrong.
std::optional<NamedRules> named_rules(const std::string& era, const std::vector<std::string>& set,
                                      std::string& error);

}  // namespace hvtlb::cli
