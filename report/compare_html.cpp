#include "report/compare_html.h"

#include <algorithm>
#include <fmt/format.h>

#include "report/compare_text.h"

namespace hvtlb {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr std::string_view kStyle = R"css(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
h2 { margin: 2em 0 0; } p.about { color: #555; margin: 0 0 1em; }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: .15em .8em; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #f6f6f6; }
figure { margin: 1em 0; overflow-x: auto; } figcaption { color: #555; }
.needed { fill: #1a7f4b; } .self { fill: #6baed6; } .lazy { fill: #f0ad4e; } .stale { fill: #d9534f; }
.offline { fill: #7b6888; } .switching { fill: #b0b0b0; } .mask { fill: #e8e8e8; } text { font: 12px system-ui; }
@media (prefers-color-scheme: dark) { body { background: #1c1c1c; color: #ddd; } tr:nth-child(even) { background: #262626; }
 .mask { fill: #3a3a3a; } text { fill: #ccc; } p.about, figcaption { color: #aaa; } }
)css";

/// More rows than this are left out of the picture; the totals below it count them.
constexpr std::size_t kPictureRows = 40;

std::string_view class_of(const FlushRecord& record, Cpu cpu) {
  if (record.sent.test(cpu) && record.needed.test(cpu)) return "needed";
  for (u32 at = 0; at < kNrExcess; ++at)
    if (record.excess[at].test(cpu)) return name_of(Excess{static_cast<u8>(at)});
  return record.mask.test(cpu) ? "mask" : "";
}

/// One line of cells a row of flushes, one column a CPU; equal neighbours are one rectangle.
std::string picture(const EraResult& era, u32 nr_cpus) {
  const double cell = std::clamp(900.0 / nr_cpus, 0.25, 14.0);
  constexpr double kLabel = 330;
  constexpr double kRow = 18;
  const std::size_t rows = std::min(era.rows.size(), kPictureRows);
  std::string svg = fmt::format(
      "<svg width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" aria-label=\"CPUs reached, flush by "
      "flush, under {}\">\n",
      kLabel + cell * nr_cpus, kRow * static_cast<double>(rows) + 4, escaped(era.rules.name));
  for (std::size_t at = 0; at < rows; ++at) {
    const FlushRow& row = era.rows[at];
    const double y = kRow * static_cast<double>(at);
    svg += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}&#215; {}</text>", y + 13, row.count,
                       escaped(request_text(row)));
    for (Cpu cpu = 0; cpu < nr_cpus;) {
      const std::string_view name = class_of(row.record, cpu);
      Cpu end = cpu + 1;
      while (end < nr_cpus && class_of(row.record, end) == name) ++end;
      if (!name.empty())
        svg += fmt::format(
            "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\">"
            "<title>CPU {}-{}: {}; {}</title></rect>",
            name, kLabel + cell * cpu, y + 2, cell * (end - cpu) - (cell > 4 ? 1 : 0), kRow - 4,
            cpu, end - 1, name, escaped(reach_text(row.record)));
      cpu = end;
    }
    svg += '\n';
  }
  return svg + "</svg>\n";
}

std::string totals(const Comparison& run) {
  std::string html = "<table><tr><th>totals</th>";
  for (const EraResult& era : run.eras) html += fmt::format("<th>{}</th>", escaped(era.rules.name));
  html += "</tr>\n";
  const auto row = [&](std::string_view name, auto count) {
    html += fmt::format("<tr><td>{}</td>", name);
    for (const EraResult& era : run.eras) html += fmt::format("<td>{}</td>", count(era.total));
    html += "</tr>\n";
  };
  row("flushes", [](const FlushCounts& c) { return c.flushes; });
  row("local", [](const FlushCounts& c) { return c.local; });
  row("hypercalls", [](const FlushCounts& c) { return c.hypercalls; });
  row("to all processors", [](const FlushCounts& c) { return c.all_processors; });
  row("IPIs", [](const FlushCounts& c) { return c.ipis; });
  row("trim rounds", [](const FlushCounts& c) { return c.trim_rounds; });
  row("CPUs reached", [](const FlushCounts& c) { return c.reached; });
  row("of them needed", [](const FlushCounts& c) { return c.needed; });
  row("too many", [](const FlushCounts& c) { return c.nr_excess(); });
  return html + "</table>\n";
}

}  // namespace

std::string compare_html(const std::vector<Comparison>& runs) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>hvtlb compare</title>"
      "<style>{}</style></head><body>\n<h1>CPUs reached by TLB flushes</h1>\n<p>One line a group "
      "of equal flushes, one column a CPU: "
      "<svg width=\"12\" height=\"12\"><rect class=\"needed\" width=\"12\" height=\"12\"/></svg> "
      "needed, "
      "<svg width=\"12\" height=\"12\"><rect class=\"self\" width=\"12\" height=\"12\"/></svg> the "
      "sender itself, "
      "<svg width=\"12\" height=\"12\"><rect class=\"lazy\" width=\"12\" height=\"12\"/></svg> "
      "lazy, "
      "<svg width=\"12\" height=\"12\"><rect class=\"stale\" width=\"12\" height=\"12\"/></svg> "
      "stale, "
      "<svg width=\"12\" height=\"12\"><rect class=\"offline\" width=\"12\" height=\"12\"/></svg> "
      "offline: all reached without need; "
      "<svg width=\"12\" height=\"12\"><rect class=\"mask\" width=\"12\" height=\"12\"/></svg> in "
      "the mask, not reached.</p>\n",
      kStyle);
  for (const Comparison& run : runs) {
    html += fmt::format("<h2>{}</h2>\n<p class=\"about\">{}. {}.</p>\n",
                        escaped(run.title.empty() ? run.scenario : run.title), escaped(run.about),
                        escaped(machine_text(run.machine, run.vp)));
    for (const EraResult& era : run.eras)
      html += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n",
                          escaped(era.rules.name), picture(era, run.machine.nr_cpus));
    html += totals(run);
    for (std::size_t at = 1; at < run.eras.size(); ++at)
      for (const std::string& line : explain(run.eras[0], run.eras[at]))
        html += fmt::format("<p>{}</p>\n", escaped(line));
  }
  return html + "</body></html>\n";
}

}  // namespace hvtlb
