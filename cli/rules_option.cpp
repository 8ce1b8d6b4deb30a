#include "cli/rules_option.h"

#include <fmt/format.h>

namespace hvtlb::cli {

std::optional<NamedRules> named_rules(const std::string& era, const std::vector<std::string>& set,
                                      std::string& error) {
  const Era* found = find_era(era);
  if (found == nullptr) {
    error = fmt::format("found the era '{}', expected one of {}", era, era_names());
    return std::nullopt;
  }
  NamedRules named{era, found, found->rules};
  for (const std::string& assignment : set) {
    error = set_rules_field(named.rules, assignment);
    if (!error.empty()) {
      error = "--set: " + error;
      return std::nullopt;
    }
  }
  if (!(named.rules == found->rules)) {
    named.name += '*';
    named.era = nullptr;
  }
  return named;
}

}  // namespace hvtlb::cli
