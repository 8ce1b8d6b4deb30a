// A comparison as text.
#pragma once

#include <optional>
#include <string>

#include "report/comparison.h"

namespace hvtlb {

struct CompareTextOptions {
  std::size_t rows = 24;   ///< how many rows of flushes to show at the most
  bool cpu_lists = false;  ///< name the CPUs, not only their number
  std::optional<CostModel> cost;
};

/// One scenario in full: the machine, flush by flush, totals, and what made the difference.
std::string compare_text(const Comparison& comparison, const CompareTextOptions& options);

/// Several runs as one table, with the sentences that explain each.
std::string sweep_text(const std::vector<Comparison>& runs, const CompareTextOptions& options);

/// `96 CPUs, VP n = CPU n, HZ 250, PCID on, Hyper-V, host tlfs`.
std::string machine_text(const Comparison& comparison);

/// `mprotect A, 1 page, on CPU 0`.
std::string request_text(const FlushRow& row);

/// `all-processors call, SPACE, 24 bytes`, `native, 3 IPIs and this CPU`, ...
std::string reach_text(const FlushRecord& record);

/// `4 MISSED`, `94 lazy, 1 stale`; `-` when nobody was missed or reached in vain.
std::string excess_text(const FlushRecord& record);

/// One line of the totals: its name, indented by what it is a part of, and a number an era.
struct TotalsRow {
  std::string name;
  std::vector<u64> counts;
};

/// The totals; rows that are there for rare cases are left out when they are zero everywhere.
std::vector<TotalsRow> totals_rows(const Comparison& comparison);

/// `holds`, or `violated, but a known fault of the era (Z14): exit 0`, ...
std::string verdict_text(const EraResult& era);

/// The first violations of an era, one line each, with the known faults that explain them.
std::vector<std::string> violation_lines(const EraResult& era);

}  // namespace hvtlb
