#include "explore/steps.h"

#include <algorithm>

namespace hvtlb::explore {
namespace {

constexpr KnownStep kKnownSteps[] = {
#include "known_steps.inc"
};

/// The compiler names a header as it was found: by any path that ends in `model/switch_mm.h`.
bool is_at(const KnownStep& step, const std::pair<std::string_view, int>& place) {
  return place.second == step.line && place.first.ends_with(step.file);
}

}  // namespace

std::span<const KnownStep> known_steps() {
  return kKnownSteps;
}

bool ReachedSteps::has(const KnownStep& step) const {
  return std::any_of(reached_.begin(), reached_.end(),
                     [&](const auto& place) { return is_at(step, place); });
}

std::vector<KnownStep> ReachedSteps::missing() const {
  std::vector<KnownStep> steps;
  for (const KnownStep& step : kKnownSteps)
    if (!has(step)) steps.push_back(step);
  return steps;
}

std::size_t ReachedSteps::nr_unknown() const {
  return static_cast<std::size_t>(
      std::count_if(reached_.begin(), reached_.end(), [](const auto& place) {
        return std::none_of(std::begin(kKnownSteps), std::end(kKnownSteps),
                            [&](const KnownStep& step) { return is_at(step, place); });
      }));
}

}  // namespace hvtlb::explore
