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
  if (others != 0)
    parts.push_back(fmt::format("{} other flush{}", others, others == 1 ? "" : "es"));
  return parts.empty() ? "nothing" : enumerate(parts);
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

std::string cpus(u64 count) {
  return fmt::format("{} CPU{}", count, count == 1 ? "" : "s");
}

std::string per_iteration(u64 count, u64 iterations) {
  if (count % iterations == 0) return fmt::format("{}", count / iterations);
  return fmt::format("{:.3f}", static_cast<double>(count) / static_cast<double>(iterations));
}

/// What the sentences are about: the measured part of a run, or all of it.
struct Part {
  const FlushCounts& counts;
  const std::map<FlushForm, u64>& forms;
  const std::map<Verb, FlushCounts>& by_caller;
  u64 iterations;  ///< 0: all of it

  std::string rate(u64 count) const { return per_iteration(count, std::max<u64>(1, iterations)); }
};

Part part_of(const EraResult& era, bool measured) {
  if (measured) return {era.measured, era.measured_forms, era.measured_by_caller, era.iterations};
  return {era.total, era.forms, era.by_caller, 0};
}

std::string forms_line(const Part& before, const Part& after) {
  const u64 iterations = before.iterations;
  const std::string scope =
      iterations == 0 ? "In all, "
                      : fmt::format("In {} iteration{} ", iterations, iterations == 1 ? "" : "s");
  const auto gone = surplus(before.forms, after.forms);
  const auto come = surplus(after.forms, before.forms);
  if (gone.empty() && come.empty())
    return fmt::format("{}no difference: {}.", scope, forms_text(before.forms, iterations));
  return fmt::format("{}{} became {}.", scope, forms_text(gone, iterations),
                     forms_text(come, iterations));
}

std::string reached_line(const Part& before, const Part& after) {
  const std::string needed_before = before.rate(before.counts.needed);
  const std::string needed_after = after.rate(after.counts.needed);
  std::string line =
      fmt::format("CPUs reached{}: {} -> {}; ", before.iterations == 0 ? "" : " an iteration",
                  before.rate(before.counts.reached), after.rate(after.counts.reached));
  if (needed_before == needed_after) return line + fmt::format("{} needed it.", needed_after);
  return line + fmt::format("needed: {} -> {}.", needed_before, needed_after);
}

std::string_view caller_text(Verb caller) {
  switch (caller) {
    case Verb::kFlush: return "";
    case Verb::kBatchFlush: return "batched ";
    default: break;
  }
  return name_of(caller);
}

/// How the CPUs that one caller reaches in vain have become less or more; empty: there were none.
std::string excess_line(Verb caller, const FlushCounts& before, const FlushCounts& after) {
  const u64 was = before.nr_excess();
  const u64 is = after.nr_excess();
  if (was == 0 && is == 0) return {};
  const bool one = after.flushes == 1;
  std::string name(caller_text(caller));
  if (!name.empty() && name.back() != ' ') name += ' ';
  const std::string flushes = fmt::format("{} {}flush{}", after.flushes, name, one ? "" : "es");
  if (is == 0)
    return fmt::format("{} no longer reach{} any CPU needlessly (before: {}).", flushes,
                       one ? "es" : "", was);
  if (is < was)
    return fmt::format("{} still reach{} {} needlessly (before: {}).", flushes, one ? "es" : "",
                       cpus(is), was);
  if (is == was)
    return fmt::format("{} still reach{} {} needlessly, as many as before.", flushes,
                       one ? "es" : "", cpus(is));
  return fmt::format("{} now reach{} {} needlessly, more than before ({}).", flushes,
                     one ? "es" : "", cpus(is), was);
}

std::string missed_line(const EraResult& era) {
  if (era.total.missed == 0) return {};
  return fmt::format("MISSED under {}: {} needed a flush and {} not reached.", era.rules.name,
                     cpus(era.total.missed), era.total.missed == 1 ? "was" : "were");
}

}  // namespace

std::vector<std::string> explain(const EraResult& era_before, const EraResult& era_after) {
  const bool measured = era_before.iterations != 0 && era_after.iterations != 0;
  const Part before = part_of(era_before, measured);
  const Part after = part_of(era_after, measured);
  if (before.counts.flushes == 0 && after.counts.flushes == 0) return {"No flushes."};
  std::vector<std::string> lines{forms_line(before, after), reached_line(before, after)};
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add(missed_line(era_before));
  add(missed_line(era_after));
  for (const auto& [caller, counts] : after.by_caller) {
    const auto was = before.by_caller.find(caller);
    add(excess_line(caller, was == before.by_caller.end() ? FlushCounts{} : was->second, counts));
  }
  return lines;
}

}  // namespace hvtlb
