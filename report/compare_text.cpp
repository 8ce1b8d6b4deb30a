#include "report/compare_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

#include "flush/wire.h"
#include "report/table.h"

namespace hvtlb {
namespace {

using Align = Table::Align;

std::string cpus_text(const CpuMask& mask, bool list) {
  return list ? mask.to_list() : fmt::format("{}", mask.count());
}

std::string call_text(const HypercallRecord& call) {
  const u16 code = hv::call_code(call.control);
  std::string text = hv::is_list(code) ? "LIST" : "SPACE";
  if (hv::is_ex(code)) text += "_EX";
  if (hv::is_list(code)) text += fmt::format(" of {}", hv::rep_count(call.control));
  if (hv::is_ex(code)) text += fmt::format(", {} banks", hv::variable_header_words(call.control));
  return text + fmt::format(", {} bytes", 8 * call.input.size());
}

/// Flush by flush: the rows of all eras, cut where any of them begins a new one.
std::string rows_text(const Comparison& comparison, const CompareTextOptions& options) {
  Table table({Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
               Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.row({"flush", "request", "era", "mask", "needed", "native set", "reached", "how",
             "too many or missed"});
  std::vector<std::size_t> next(comparison.eras.size(), 0);
  u64 at = 1;
  std::size_t shown = 0;
  while (shown < options.rows) {
    u64 end = ~u64{0};
    for (std::size_t era = 0; era < next.size(); ++era) {
      const auto& rows = comparison.eras[era].rows;
      while (next[era] < rows.size() && rows[next[era]].first + rows[next[era]].count <= at)
        ++next[era];
      if (next[era] >= rows.size()) continue;
      end = std::min(end, rows[next[era]].first + rows[next[era]].count - 1);
    }
    if (end == ~u64{0}) break;
    bool first = true;
    for (std::size_t era = 0; era < next.size(); ++era) {
      const auto& rows = comparison.eras[era].rows;
      if (next[era] >= rows.size()) continue;
      const FlushRow& row = rows[next[era]];
      const FlushRecord& record = row.record;
      table.row(
          {first ? (at == end ? fmt::format("{}", at) : fmt::format("{}-{}", at, end)) : "",
           first ? request_text(row) : "", comparison.eras[era].rules.name,
           cpus_text(record.mask, options.cpu_lists), cpus_text(record.needed, options.cpu_lists),
           cpus_text(record.native, options.cpu_lists), cpus_text(record.sent, options.cpu_lists),
           reach_text(record), excess_text(record)});
      first = false;
    }
    at = end + 1;
    ++shown;
  }
  std::string text = table.text(2);
  u64 flushes = 0;
  for (const EraResult& era : comparison.eras) flushes = std::max(flushes, era.total.flushes);
  if (at <= flushes)
    text += fmt::format("  ... and {} more flushes, counted below (--rows N shows more)\n",
                        flushes - at + 1);
  return text;
}

std::string totals_text(const Comparison& comparison, const CompareTextOptions& options) {
  std::vector<Align> columns(comparison.eras.size() + 1, Align::kRight);
  columns[0] = Align::kLeft;
  Table table(columns);
  std::vector<std::string> head{"totals"};
  for (const EraResult& era : comparison.eras) head.push_back(era.rules.name);
  table.row(head);
  for (const TotalsRow& row : totals_rows(comparison)) {
    std::vector<std::string> cells{row.name};
    for (const u64 count : row.counts) cells.push_back(fmt::format("{}", count));
    table.row(cells);
  }
  std::string text = table.text(2);
  if (options.cost) {
    text += fmt::format("  cost model, microseconds: hypercall {}, target {}, IPI {}, local {}:",
                        options.cost->hypercall, options.cost->target, options.cost->ipi,
                        options.cost->local);
    for (const EraResult& era : comparison.eras) {
      text += fmt::format("  {} {:.1f}", era.rules.name, options.cost->microseconds(era.total));
      if (era.iterations != 0)
        text += fmt::format(" ({:.3f} an iteration)", options.cost->microseconds(era.measured) /
                                                          static_cast<double>(era.iterations));
    }
    text += '\n';
  }
  return text;
}

std::string masks_text(const Comparison& comparison) {
  std::string text;
  for (const EraResult& era : comparison.eras) {
    text += fmt::format("  {}: the masks at the end hold", era.rules.name);
    std::size_t shown = 0;
    for (const auto& mask : era.masks) {
      if (++shown > 6) break;
      text += fmt::format("{} {} CPU{} for {} (runs on {})", shown > 1 ? "," : "", mask.in_mask,
                          mask.in_mask == 1 ? "" : "s", mask.process, mask.running);
    }
    if (era.masks.size() > 6) text += fmt::format(" and {} more", era.masks.size() - 6);
    text += '\n';
  }
  return text;
}

/// One line when every verdict holds; else the violations and the verdict of every era.
std::string verdicts_text(const Comparison& comparison) {
  const auto holds = [](const EraResult& era) { return era.nr_violations == 0; };
  if (std::all_of(comparison.eras.begin(), comparison.eras.end(), holds))
    return "  every verdict holds\n";
  std::string text;
  for (const EraResult& era : comparison.eras) {
    for (const std::string& line : violation_lines(era))
      text += fmt::format("  {}: {}\n", era.rules.name, line);
    text += fmt::format("  {}: {}\n", era.rules.name, verdict_text(era));
  }
  return text;
}

std::string explanation_text(const Comparison& comparison) {
  std::string text;
  for (std::size_t at = 1; at < comparison.eras.size(); ++at) {
    const EraResult& before = comparison.eras.front();
    const EraResult& after = comparison.eras[at];
    text += fmt::format("\n  {} -> {}:\n", before.rules.name, after.rules.name);
    for (const std::string& line : explain(before, after)) text += fmt::format("    {}\n", line);
  }
  return text;
}

}  // namespace

std::string machine_text(const Comparison& comparison) {
  const MachineShape& machine = comparison.machine;
  const VpNumbering& vp = comparison.vp;
  std::string text = fmt::format("{} CPU{}", machine.nr_cpus, machine.nr_cpus == 1 ? "" : "s");
  if (machine.present) text += fmt::format(" ({} present)", machine.present->count());
  if (vp.kind == VpNumbering::Kind::kList)
    text += ", VPs as listed";
  else if (vp.offset == 0 && vp.stride == 1)
    text += ", VP n = CPU n";
  else
    text += fmt::format(", VP of CPU n = {} + {}n", vp.offset,
                        vp.stride == 1 ? "" : fmt::format("{} ", vp.stride));
  if (machine.hv_max_vp_index)
    text += fmt::format(", hv_max_vp_index {}", *machine.hv_max_vp_index);
  return text + fmt::format(", HZ {}, PCID {}, {}", machine.hz, machine.pcid ? "on" : "off",
                            machine.hyperv ? "Hyper-V, host " + comparison.host : "native");
}

std::string request_text(const FlushRow& row) {
  std::string text(name_of(row.caller));
  if (!row.process.empty()) text += ' ' + row.process;
  if (row.pages != 0) text += fmt::format(", {} page{}", row.pages, row.pages == 1 ? "" : "s");
  if (row.record.request.freed_tables) text += ", freed tables";
  return text + fmt::format(", on CPU {}", row.record.request.initiating_cpu);
}

std::string reach_text(const FlushRecord& record) {
  switch (record.outcome) {
    case Outcome::kNone: return "nothing to do";
    case Outcome::kLocal: return "local flush";
    case Outcome::kNative: {
      const bool self = record.sent.test(record.request.initiating_cpu);
      const u32 ipis = record.nr_ipis();
      const NativeKind kind = native_kind(record);
      std::string text = kind == NativeKind::kPeriodicTrim    ? "periodic trim round, "
                         : kind == NativeKind::kImmediateTrim ? "immediate trim, "
                                                              : "native, ";
      if (kind == NativeKind::kNoIpi)
        text += self ? "this CPU alone" : "nobody";
      else
        text += fmt::format("{} IPI{}{}", ipis, ipis == 1 ? "" : "s", self ? " and this CPU" : "");
      return text + (record.fell_back ? ", after the call failed" : "");
    }
    case Outcome::kHypercall: break;
  }
  std::string text = record.swept_by_all ? "call to all processors, " : "call, ";
  text += call_text(record.hypercalls.back());
  if (record.hypercalls.size() > 1) text += fmt::format(", {} calls", record.hypercalls.size());
  return text;
}

std::string excess_text(const FlushRecord& record) {
  std::string text;
  if (const CpuMask missed = record.missed(); missed.any())
    text = fmt::format("{} MISSED", missed.count());
  for (u32 at = 0; at < kNrExcess; ++at) {
    if (record.excess[at].none()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", record.excess[at].count(), name_of(Excess{static_cast<u8>(at)}));
  }
  return text.empty() ? "-" : text;
}

std::vector<TotalsRow> totals_rows(const Comparison& comparison) {
  std::vector<TotalsRow> rows;
  enum class Show : u8 { kAlways, kNonZero };
  const auto add = [&](std::string name, const std::function<u64(const EraResult&)>& count,
                       Show show = Show::kAlways) {
    std::vector<u64> counts;
    for (const EraResult& era : comparison.eras) counts.push_back(count(era));
    const bool any = std::any_of(counts.begin(), counts.end(), [](u64 n) { return n != 0; });
    if (any || show == Show::kAlways) rows.push_back({std::move(name), std::move(counts)});
  };
  const auto add_count = [&](std::string name, u64 FlushCounts::*field, Show show = Show::kAlways) {
    add(
        std::move(name), [field](const EraResult& era) { return era.total.*field; }, show);
  };
  add_count("flushes", &FlushCounts::flushes);
  add_count("  local, this CPU alone", &FlushCounts::local);
  add_count("  to nobody", &FlushCounts::nobody, Show::kNonZero);
  add_count("  by the native path", &FlushCounts::native);
  add_count("    of them without an IPI", &FlushCounts::no_ipi, Show::kNonZero);
  add_count("    of them immediate trims", &FlushCounts::immediate_trims, Show::kNonZero);
  add_count("    of them periodic trim rounds", &FlushCounts::periodic_trims, Show::kNonZero);
  add_count("    IPIs", &FlushCounts::ipis);
  add_count("  hypercalls", &FlushCounts::hypercalls);
  add_count("    of them to all processors", &FlushCounts::all_processors);
  add_count("    of them EX", &FlushCounts::ex_calls, Show::kNonZero);
  add_count("    targets", &FlushCounts::targets);
  add_count("    bytes of input", &FlushCounts::bytes);
  add_count("CPUs reached", &FlushCounts::reached);
  add("  of them needed", [](const EraResult& e) { return e.total.needed - e.total.missed; });
  for (u32 at = 0; at < kNrExcess; ++at)
    add(
        fmt::format("  too many: {}", name_of(Excess{static_cast<u8>(at)})),
        [at](const EraResult& e) { return e.total.excess[at]; }, Show::kNonZero);
  add_count("  only swept in by ALL_PROCESSORS", &FlushCounts::swept, Show::kNonZero);
  add_count("MISSED: needed and not reached", &FlushCounts::missed, Show::kNonZero);
  add("violations", [](const EraResult& e) { return e.nr_violations; });
  return rows;
}

std::string verdict_text(const EraResult& era) {
  if (era.nr_violations == 0) return "holds";
  std::set<std::string_view> names;
  for (const KnownFault* fault : era.explained_by)
    if (fault != nullptr) names.insert(fault->zoo);
  const std::string known = fmt::format("{}", fmt::join(names, ", "));
  if (era.known_fault)
    return fmt::format("violated, but a known fault of the era ({}): exit 0", known);
  if (era.nr_unexplained == era.nr_violations)
    return "violated, and no known fault of the era explains it: exit 3";
  return fmt::format("violated, and known faults of the era ({}) explain only {} of {}: exit 3",
                     known, era.nr_violations - era.nr_unexplained, era.nr_violations);
}

std::vector<std::string> violation_lines(const EraResult& era) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < std::min(kShown, era.violations.size()); ++at) {
    const KnownFault* fault = era.explained_by[at];
    lines.push_back(to_string(era.violations[at]) +
                    (fault != nullptr ? fmt::format(" [known fault {}]", fault->zoo) : ""));
  }
  if (era.nr_violations > lines.size())
    lines.push_back(fmt::format("... and {} more", era.nr_violations - lines.size()));
  return lines;
}

std::string compare_text(const Comparison& comparison, const CompareTextOptions& options) {
  std::string text = comparison.title.empty() ? comparison.scenario : comparison.title;
  text += '\n';
  if (!comparison.about.empty()) text += fmt::format("  {}\n", comparison.about);
  text += fmt::format("  {}", machine_text(comparison));
  if (!comparison.eras.empty() && comparison.eras.front().iterations != 0)
    text += fmt::format("; {} measured iteration{}", comparison.eras.front().iterations,
                        comparison.eras.front().iterations == 1 ? "" : "s");
  text += "\n\n" + rows_text(comparison, options) + '\n' + totals_text(comparison, options) + '\n' +
          masks_text(comparison) + verdicts_text(comparison) + explanation_text(comparison);
  if (comparison.stopped) text += "\n  interrupted: this is what was done until then\n";
  return text;
}

std::string sweep_text(const std::vector<Comparison>& runs, const CompareTextOptions& options) {
  std::vector<Align> columns(10, Align::kRight);
  columns[1] = columns[2] = Align::kLeft;
  Table table(columns);
  table.row({"CPUs", "scenario", "era", "calls", "all-proc.", "targets", "IPIs", "local", "alone",
             "trims"});
  const auto rate = [](u64 count, u64 iterations) {
    if (iterations == 0) return fmt::format("{}", count);
    if (count % iterations == 0) return fmt::format("{}", count / iterations);
    return fmt::format("{:.3f}", static_cast<double>(count) / static_cast<double>(iterations));
  };
  std::string sentences;
  bool measured = false;
  bool whole = false;
  bool violated = false;
  for (const Comparison& run : runs) {
    bool first = true;
    for (const EraResult& era : run.eras) {
      const FlushCounts& counts = era.iterations != 0 ? era.measured : era.total;
      const u64 n = era.iterations;
      const u64 trims = counts.periodic_trims + counts.immediate_trims;
      table.row({first ? fmt::format("{}", run.machine.nr_cpus) : "", first ? run.scenario : "",
                 era.rules.name, rate(counts.hypercalls, n), rate(counts.all_processors, n),
                 rate(counts.targets, n), rate(counts.ipis, n), rate(counts.local, n),
                 rate(counts.no_ipi, n),
                 trims == 0 ? "0"
                            : fmt::format("{} with {} IPI{}", trims, counts.trim_ipis,
                                          counts.trim_ipis == 1 ? "" : "s")});
      first = false;
      (era.iterations != 0 ? measured : whole) = true;
      violated |= era.nr_violations != 0;
    }
    for (std::size_t at = 1; at < run.eras.size(); ++at) {
      const EraResult& before = run.eras[0];
      const EraResult& after = run.eras[at];
      sentences += fmt::format("\n  {}, {} CPUs, {} -> {}:\n", run.scenario, run.machine.nr_cpus,
                               before.rules.name, after.rules.name);
      for (const std::string& line : explain(before, after))
        sentences += fmt::format("    {}\n", line);
      if (!options.cost) continue;
      const bool part = before.iterations != 0 && after.iterations != 0;
      sentences += fmt::format(
          "    cost model (hypercall {}, target {}, IPI {}, local {}): {:.3f} -> {:.3f} "
          "microseconds in {}\n",
          options.cost->hypercall, options.cost->target, options.cost->ipi, options.cost->local,
          options.cost->microseconds(part ? before.measured : before.total),
          options.cost->microseconds(part ? after.measured : after.total),
          part ? "all measured iterations" : "the whole run");
    }
  }
  std::string text = !measured ? "Whole runs:\n\n"
                     : whole   ? "Per measured iteration; whole runs where nothing is measured:\n\n"
                               : "Per measured iteration:\n\n";
  text += table.text(2);
  text += fmt::format(
      "  local: this CPU alone is in the mask; alone: native path, nobody else to reach or trim;\n"
      "  trims: periodic trim rounds and immediate trims in {}\n",
      measured ? "all measured iterations" : "the whole run");
  text += sentences;
  text += violated ? "\n" : "\n  Every verdict holds in every run.\n";
  for (const Comparison& run : runs) {
    if (violated) text += fmt::format("  {}, {} CPUs:\n", run.scenario, run.machine.nr_cpus);
    if (violated) text += verdicts_text(run);
    if (run.stopped) text += "  interrupted: this is what was done until then\n";
  }
  return text;
}

}  // namespace hvtlb
