// The tables at the end of a run: every flush decision beside its scan, and against the goals.
#pragma once

#include <benchmark/benchmark.h>
#include <map>
#include <string>
#include <string_view>

#include "model/types.h"

namespace hvtlb::bench {

inline constexpr u32 kCpuCounts[] = {32, 96, 416, 2048, 4096};
inline constexpr std::string_view kMeasuredEras[] = {"filtered", "v6.17.5", "v6.4"};

/// Prints one line a benchmark, its median, and the tables.
class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  double median_ns(const std::string& name) const;
  void print_ratios(std::string_view era) const;

  std::map<std::string, std::vector<double>> ns_;  // by name, one a repetition
};

}  // namespace hvtlb::bench
