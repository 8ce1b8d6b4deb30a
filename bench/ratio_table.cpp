#include "bench/ratio_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "bench/flush_case.h"

namespace hvtlb::bench {
namespace {

/// What the kernel's own builder, compiled in userspace, and its scan took on a machine like the
/// one these goals were set on.
struct Reference {
  u32 nr_cpus;
  double goal;
  std::optional<double> kernel_ns;
  std::optional<double> scan_ns;
};
constexpr Reference kReferences[] = {
    {32, 1.4, 130, 45},
    {96, 1.8, 410, 110},
    {416, 2.5, 1900, 370},
    {2048, 2.5, 10000, 1860},
    {4096, 2.5, std::nullopt, std::nullopt},
};

std::string ns_or_dash(std::optional<double> ns) {
  return ns ? fmt::format("{:.0f}", *ns) : "-";
}

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> shown;
  for (const Run& run : runs) {
    if (run.run_type == Run::RT_Iteration && !run.error_occurred)
      ns_[run.run_name.function_name].push_back(run.GetAdjustedCPUTime());
    if (run.repetitions <= 1 || run.error_occurred || run.aggregate_name == "median")
      shown.push_back(run);
  }
  ConsoleReporter::ReportRuns(shown);
}

double RatioReporter::median_ns(const std::string& name) const {
  const auto found = ns_.find(name);
  if (found == ns_.end()) return 0;
  std::vector<double> ns = found->second;
  std::sort(ns.begin(), ns.end());
  return (ns[(ns.size() - 1) / 2] + ns[ns.size() / 2]) / 2;
}

void RatioReporter::print_ratios(std::string_view era) const {
  std::string table;
  for (const Reference& reference : kReferences) {
    for (MaskShape shape : kMaskShapes) {
      for (VpNumbering vps : kVpNumberings) {
        const std::string name = case_name(reference.nr_cpus, shape, vps);
        const double ns = median_ns(fmt::format("decision/{}/{}", era, name));
        const double scan_ns =
            std::min(median_ns("scan/" + name), median_ns("scan-branchless/" + name));
        if (ns == 0 || scan_ns == 0) continue;
        const double ratio = ns / scan_ns;
        // The goals are for the fix; the builders before it walk the live mask CPU by CPU.
        const std::string goal = era != "filtered" ? "-" : fmt::format("{:.1f}", reference.goal);
        const bool missed = era == "filtered" && ratio > reference.goal;
        table += fmt::format(
            "{:>5}  {:<14}  {:<9}  {:>8.1f}  {:>8.1f}  {:>5.2f}  {:>4} {:<4}  {:>9}  {:>7}\n",
            reference.nr_cpus, name_of(shape), name_of(vps), ns, scan_ns, ratio, goal,
            missed ? "miss" : "", ns_or_dash(reference.kernel_ns), ns_or_dash(reference.scan_ns));
      }
    }
  }
  if (table.empty()) return;
  fmt::print(
      "\nflush decision, era {}; the last two columns: the kernel's builder and a scan, as "
      "published\n{:>5}  {:<14}  {:<9}  {:>8}  {:>8}  {:>5}  {:>9}  {:>9}  {:>7}\n{}",
      era, "CPUs", "mask", "VPs", "ns", "scan ns", "ratio", "goal     ", "kernel ns", "scan ns",
      table);
}

void RatioReporter::Finalize() {
  ConsoleReporter::Finalize();
  for (std::string_view era : kMeasuredEras) print_ratios(era);
}

}  // namespace hvtlb::bench
