#include "report/compare_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

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
  table.row({"flush", "request", "era", "mask", "needed", "native", "reached", "how", "too many"});
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
  const auto add = [&](std::string_view name, const std::function<u64(const EraResult&)>& count,
                       bool always = true) {
    std::vector<std::string> cells{std::string(name)};
    bool any = always;
    for (const EraResult& era : comparison.eras) {
      any |= count(era) != 0;
      cells.push_back(fmt::format("{}", count(era)));
    }
    if (any) table.row(cells);
  };
  add("flushes", [](const EraResult& e) { return e.total.flushes; });
  add("  local, this CPU alone", [](const EraResult& e) { return e.total.local; });
  add(
      "  to nobody", [](const EraResult& e) { return e.total.nobody; }, false);
  add("  native", [](const EraResult& e) { return e.total.native; });
  add("    of them trim rounds", [](const EraResult& e) { return e.total.trim_rounds; });
  add("    IPIs", [](const EraResult& e) { return e.total.ipis; });
  add("  hypercalls", [](const EraResult& e) { return e.total.hypercalls; });
  add("    of them to all processors", [](const EraResult& e) { return e.total.all_processors; });
  add(
      "    of them EX", [](const EraResult& e) { return e.total.ex_calls; }, false);
  add("    targets", [](const EraResult& e) { return e.total.targets; });
  add("    bytes of input", [](const EraResult& e) { return e.total.bytes; });
  add("CPUs reached", [](const EraResult& e) { return e.total.reached; });
  add("  of them needed", [](const EraResult& e) { return e.total.needed - e.total.missed; });
  for (u32 at = 0; at < kNrExcess; ++at)
    add(
        fmt::format("  too many: {}", name_of(Excess{static_cast<u8>(at)})),
        [at](const EraResult& e) { return e.total.excess[at]; }, false);
  add(
      "  only swept in by ALL_PROCESSORS", [](const EraResult& e) { return e.total.swept; }, false);
  add(
      "needed and not reached", [](const EraResult& e) { return e.total.missed; }, false);
  add("violations of P1 to P4", [](const EraResult& e) { return e.nr_violations; });
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

std::string violations_text(const Comparison& comparison) {
  std::string text;
  for (const EraResult& era : comparison.eras) {
    for (const Violation& v : era.violations) {
      text += fmt::format("  {} violated: {}{}\n", era.rules.name, to_string(v),
                          era.known_fault ? " [a known fault of this era]" : "");
      if (&v - era.violations.data() == 4) break;
    }
    if (era.nr_violations > 5)
      text += fmt::format("  ... and {} more under {}\n", era.nr_violations - 5, era.rules.name);
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

std::string machine_text(const MachineShape& machine, const VpNumbering& vp) {
  std::string text = fmt::format("{} CPU{}", machine.nr_cpus, machine.nr_cpus == 1 ? "" : "s");
  if (machine.present) text += fmt::format(" ({} present)", machine.present->count());
  if (vp.kind == VpNumbering::Kind::kList)
    text += ", VPs as listed";
  else if (vp.offset == 0 && vp.stride == 1)
    text += ", VP n = CPU n";
  else
    text += fmt::format(", VP of CPU n = {} + {} n", vp.offset, vp.stride);
  return text + fmt::format(", HZ {}, PCID {}, {}", machine.hz, machine.pcid ? "on" : "off",
                            machine.hyperv ? "Hyper-V" : "native");
}

std::string request_text(const FlushRow& row) {
  std::string text = fmt::format("{} {}", name_of(row.caller), row.process);
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
      return fmt::format("native{}, {} IPI{}{}{}", record.trim ? " trim round" : "", ipis,
                         ipis == 1 ? "" : "s", self ? " and this CPU" : "",
                         record.fell_back ? ", after the call failed" : "");
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
  for (u32 at = 0; at < kNrExcess; ++at) {
    if (record.excess[at].none()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", record.excess[at].count(), name_of(Excess{static_cast<u8>(at)}));
  }
  return text.empty() ? "-" : text;
}

std::string compare_text(const Comparison& comparison, const CompareTextOptions& options) {
  std::string text = comparison.title.empty() ? comparison.scenario : comparison.title;
  text += '\n';
  if (!comparison.about.empty()) text += fmt::format("  {}\n", comparison.about);
  text += fmt::format("  {}", machine_text(comparison.machine, comparison.vp));
  if (!comparison.eras.empty() && comparison.eras.front().iterations != 0)
    text += fmt::format("; {} measured iterations", comparison.eras.front().iterations);
  text += "\n\n" + rows_text(comparison, options) + '\n' + totals_text(comparison, options) + '\n' +
          masks_text(comparison) + violations_text(comparison) + explanation_text(comparison);
  if (comparison.stopped) text += "\n  interrupted: this is what was done until then\n";
  return text;
}

std::string sweep_text(const std::vector<Comparison>& runs, const CompareTextOptions& options) {
  std::vector<Align> columns(9, Align::kRight);
  columns[1] = columns[2] = Align::kLeft;
  Table table(columns);
  table.row(
      {"CPUs", "scenario", "era", "calls", "all-proc.", "targets", "IPIs", "local", "trim rounds"});
  const auto rate = [](u64 count, u64 iterations) {
    if (iterations == 0) return fmt::format("{}", count);
    if (count % iterations == 0) return fmt::format("{}", count / iterations);
    return fmt::format("{:.3f}", static_cast<double>(count) / static_cast<double>(iterations));
  };
  std::string sentences;
  bool violated = false;
  for (const Comparison& run : runs) {
    bool first = true;
    for (const EraResult& era : run.eras) {
      const FlushCounts& counts = era.iterations != 0 ? era.measured : era.total;
      const u64 n = era.iterations;
      table.row({first ? fmt::format("{}", run.machine.nr_cpus) : "", first ? run.scenario : "",
                 era.rules.name, rate(counts.hypercalls, n), rate(counts.all_processors, n),
                 rate(counts.targets, n), rate(counts.ipis, n), rate(counts.local, n),
                 counts.trim_rounds == 0 ? "0"
                                         : fmt::format("{} with {} IPIs in all", counts.trim_rounds,
                                                       counts.trim_ipis)});
      first = false;
      violated |= era.nr_violations != 0;
    }
    for (std::size_t at = 1; at < run.eras.size(); ++at) {
      sentences += fmt::format("\n  {}, {} CPUs, {} -> {}:\n", run.scenario, run.machine.nr_cpus,
                               run.eras[0].rules.name, run.eras[at].rules.name);
      for (const std::string& line : explain(run.eras[0], run.eras[at]))
        sentences += fmt::format("    {}\n", line);
      if (options.cost)
        sentences += fmt::format(
            "    cost model (hypercall {}, target {}, IPI {}, local {}): {:.3f} -> {:.3f} "
            "microseconds in all\n",
            options.cost->hypercall, options.cost->target, options.cost->ipi, options.cost->local,
            options.cost->microseconds(run.eras[0].measured),
            options.cost->microseconds(run.eras[at].measured));
    }
  }
  std::string text = "Per measured iteration:\n\n" + table.text(2) + sentences;
  text += violated ? "\n" : "\n  P1 to P4 hold in every run.\n";
  for (const Comparison& run : runs) {
    text += violations_text(run);
    if (run.stopped) text += "  interrupted: this is what was done until then\n";
  }
  return text;
}

}  // namespace hvtlb
