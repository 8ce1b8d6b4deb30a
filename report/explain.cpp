// The sentences under the totals: what made the difference.
#include <algorithm>
#include <fmt/format.h>

#include "report/comparison.h"

namespace hvtlb {
namespace {

/// `a`, `a and b`, `a, b and c`.
std::string enumerate(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (at != 0) text += at + 1 == parts.size() ? " and " : ", ";
    text += parts[at];
  }
  return text;
}

/// At most four forms, the most frequent first, with their number an iteration where it is whole;
/// the rest is summed up.
std::string forms_text(const std::map<FlushForm, u64>& forms, u64 iterations) {
  std::vector<std::pair<FlushForm, u64>> sorted(forms.begin(), forms.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  u64 others = 0;
  for (const auto& [form, count] : sorted) {
    if (parts.size() >= 4) {
      others += count;
      continue;
    }
    parts.push_back(form_text(form, count));
    if (iterations > 1 && count % iterations == 0)
      parts.back() += fmt::format(" ({} an iteration)", count / iterations);
  }
  if (others != 0) parts.push_back(fmt::format("{} other flushes", others));
  return enumerate(parts);
}

/// The forms that one side has more of than the other.
std::map<FlushForm, u64> surplus(const std::map<FlushForm, u64>& of,
                                 const std::map<FlushForm, u64>& over) {
  std::map<FlushForm, u64> more;
  for (const auto& [form, count] : of) {
    const auto other = over.find(form);
    const u64 shared = other == over.end() ? 0 : other->second;
    if (count > shared) more[form] = count - shared;
  }
  return more;
}

std::string per_iteration(u64 count, u64 iterations) {
  if (count % iterations == 0) return fmt::format("{}", count / iterations);
  return fmt::format("{:.3f}", static_cast<double>(count) / static_cast<double>(iterations));
}

}  // namespace

std::vector<std::string> explain(const EraResult& before, const EraResult& after) {
  std::vector<std::string> lines;
  const u64 iterations = before.iterations;
  if (iterations == 0) return lines;
  const auto gone = surplus(before.measured_forms, after.measured_forms);
  const auto come = surplus(after.measured_forms, before.measured_forms);
  if (gone.empty() && come.empty()) {
    lines.push_back(fmt::format("In {} iterations nothing changed: {}.", iterations,
                                forms_text(before.measured_forms, iterations)));
  } else {
    lines.push_back(fmt::format("In {} iterations {} became {}.", iterations,
                                forms_text(gone, iterations), forms_text(come, iterations)));
  }
  lines.push_back(
      fmt::format("CPUs reached an iteration: {} -> {}; {} needed it.",
                  per_iteration(before.measured.reached, iterations),
                  per_iteration(after.measured.reached, std::max<u64>(1, after.iterations)),
                  per_iteration(before.measured.needed, iterations)));
  for (const auto& [caller, counts] : after.by_caller) {
    if (counts.nr_excess() == 0) continue;
    const auto was = before.by_caller.find(caller);
    if (was == before.by_caller.end()) continue;
    const bool lessened = counts.nr_excess() < was->second.nr_excess();
    lines.push_back(fmt::format("{} for {}: {} CPUs reached too many by {} flushes (before: {}).",
                                lessened ? "What remains" : "Unchanged", name_of(caller),
                                counts.nr_excess(), counts.flushes, was->second.nr_excess()));
  }
  return lines;
}

}  // namespace hvtlb
