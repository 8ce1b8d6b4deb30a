#include "report/replay_explain.h"

#include <algorithm>
#include <fmt/format.h>

namespace hvtlb {
namespace {

std::string counted(u64 count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// `1 hypercall to all processors (8 CPUs) and 1 native flush to others (7 IPIs)`.
std::string sending_text(const EraTotals& era) {
  std::vector<std::string> parts;
  if (era.hypercalls != 0)
    parts.push_back(era.all_processors == era.by_hypercall
                        ? fmt::format("{} to all processors ({}{})",
                                      counted(era.hypercalls, "hypercall"),
                                      counted(era.targets / era.by_hypercall, "CPU"),
                                      era.by_hypercall == 1 ? "" : " each")
                        : fmt::format("{} to {}", counted(era.hypercalls, "hypercall"),
                                      counted(era.targets, "CPU")));
  const auto flushes = [](u64 count, std::string_view what) {
    return fmt::format("{} native flush{}{}", count, count == 1 ? "" : "es", what);
  };
  if (era.no_ipi != 0) parts.push_back(flushes(era.no_ipi, " without an IPI"));
  if (const u64 plain = era.native - era.periodic_trims - era.immediate_trims - era.no_ipi;
      plain != 0)
    parts.push_back(flushes(plain, " to others"));
  if (era.immediate_trims != 0) parts.push_back(counted(era.immediate_trims, "immediate trim"));
  if (era.periodic_trims != 0) parts.push_back(counted(era.periodic_trims, "periodic trim round"));
  if (parts.empty()) return "nothing to other CPUs";
  std::string text;
  for (std::size_t at = 0; at < parts.size(); ++at)
    text += (at == 0 ? "" : at + 1 == parts.size() ? " and " : ", ") + parts[at];
  if (era.ipis != 0) text += fmt::format(" ({})", counted(era.ipis, "IPI"));
  return text;
}

std::string needless_text(const EraTotals& era) {
  return fmt::format("{} CPUs reached, {} of them in vain ({})", era.reached, era.needless(),
                     percent_text(era.needless(), era.reached));
}

}  // namespace

std::string percent_text(u64 part, u64 whole) {
  if (part == 0 || whole == 0) return "0 %";
  if (part == whole) return "100 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", std::clamp(percent, 0.1, 99.9));
}

std::vector<std::string> explain_replay(const ReplayResult& result) {
  std::vector<std::string> lines;
  if (result.eras.front().flushes == 0) return lines;
  for (const EraTotals& era : result.eras)
    lines.push_back(fmt::format("{}: {}.\n  {}.", era.name, sending_text(era), needless_text(era)));
  if (result.eras.size() < 3) return lines;
  const EraTotals& before = result.eras[1];
  for (std::size_t at = 2; at < result.eras.size(); ++at) {
    const EraTotals& after = result.eras[at];
    std::string line;
    if (after.reached == before.reached && after.hypercalls == before.hypercalls)
      line = fmt::format("With {} instead of {} nothing changes here", after.name, before.name);
    else if (after.reached == before.reached)
      line = fmt::format(
          "With {} instead of {} the same {} CPUs are reached, with {} instead of {}", after.name,
          before.name, after.reached, counted(after.hypercalls, "hypercall"), before.hypercalls);
    else if (after.reached < before.reached)
      line = fmt::format(
          "With {} instead of {} {} fewer CPUs are reached ({} of {}), with {} "
          "instead of {}",
          after.name, before.name, before.reached - after.reached,
          percent_text(before.reached - after.reached, before.reached), before.reached,
          counted(after.hypercalls, "hypercall"), before.hypercalls);
    else
      line = fmt::format("With {} instead of {} {} more CPUs are reached, with {} instead of {}",
                         after.name, before.name, after.reached - before.reached,
                         counted(after.hypercalls, "hypercall"), before.hypercalls);
    lines.push_back(line + '.');
  }
  return lines;
}

}  // namespace hvtlb
