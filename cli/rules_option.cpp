#include "cli/rules_option.h"

#include <algorithm>
#include <fmt/format.h>

#include "scenario/shown_text.h"

namespace hvtlb::cli {

std::string expected_era() {
  return fmt::format("expected one of {}; hvtlb eras says which releases each stands for",
                     era_names());
}

std::string unknown_era(std::string_view name) {
  return fmt::format("found the era '{}', {}", shown_text(name), expected_era());
}

std::optional<std::string> named_twice(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto found = std::adjacent_find(names.begin(), names.end());
  if (found == names.end()) return std::nullopt;
  return *found;
}

std::optional<NamedRules> named_rules(const std::string& era, const std::vector<std::string>& set,
                                      std::string& error) {
  const Era* found = find_era(era);
  if (found == nullptr) {
    error = unknown_era(era);
    return std::nullopt;
  }
  NamedRules named{era, found, found->rules};
  for (const std::string& assignment : set) {
    error = set_rules_field(named.rules, assignment);
    if (!error.empty()) {
      // It repeats what was found as it is.
      const auto equals = std::min(assignment.find('='), assignment.size());
      error = equals > kMaxShownText || assignment.size() - equals > kMaxShownText
                  ? fmt::format("--set: found '{}', expected FIELD=VALUE (see hvtlb eras)",
                                shown_text(assignment))
                  : "--set: " + escaped_text(error);
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
