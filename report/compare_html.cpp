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
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
 color: #222; }
h2 { margin: 2em 0 0; } p.about { color: #555; margin: 0 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .15em .8em; text-align: right; } tr:nth-child(even) { background: #f6f6f6; }
th:first-child, td:first-child { text-align: left; }
td.part1 { padding-left: 2em; } td.part2 { padding-left: 3.2em; }
tr.loud td, .legend .loud { color: #c00000; font-weight: 700; }
figure { margin: 1em 0; } figcaption { font-weight: 600; }
figure svg { display: block; width: 100%; height: auto; }
.legend svg { width: 12px; height: 12px; vertical-align: -1px; } .legend span { margin-right: 1em; white-space: nowrap; }
.verdict { border-left: 5px solid #1a7f4b; padding: .2em .8em; margin: .4em 0; }
.violated { border-color: #c00000; background: #fde8e8; }
.verdict ul { margin: .2em 0; padding-left: 1.2em; overflow-wrap: anywhere; }
.missed { fill: #ff0033; stroke: #000; } .needed { fill: #1a7f4b; } .self { fill: #6baed6; }
.lazy { fill: #f0ad4e; } .stale { fill: #b5651d; } .offline { fill: #7b6888; }
.switching { fill: #707070; } .mask { fill: #dedede; }
text { font: 12px system-ui, sans-serif; } text.axis { font-size: 11px; fill: #666; }
line { stroke: #999; }
@media (prefers-color-scheme: dark) { body { background: #1c1c1c; color: #ddd; }
 tr:nth-child(even) { background: #262626; } .mask { fill: #3a3a3a; } .missed { stroke: #fff; }
 .violated { background: #451b1b; } tr.loud td, .legend .loud { color: #ff6b6b; }
 text { fill: #ccc; } text.axis { fill: #999; } p.about { color: #aaa; } }
)css";

/// More rows than this are left out of the picture; a note says how many, the totals count them.
constexpr std::size_t kPictureRows = 40;

/// What a CPU is in the picture of a flush. The later ones are drawn over the earlier ones.
struct CpuClass {
  std::string_view name;   ///< of the style
  std::string_view words;  ///< in the legend and where the pointer rests
};
constexpr CpuClass kClasses[] = {
    {"mask", "in the mask, not reached"},
    {"self", "the sender itself, reached without need"},
    {"lazy", "lazy, reached without need"},
    {"switching", "switching, reached without need"},
    {"offline", "offline, reached without need"},
    {"stale", "stale, reached without need"},
    {"needed", "needed and reached"},
    {"missed", "MISSED: needed and not reached"},
};

const CpuClass* class_named(std::string_view name) {
  return std::find_if(std::begin(kClasses), std::end(kClasses),
                      [&](const CpuClass& each) { return each.name == name; });
}

const CpuClass* class_of(const FlushRecord& record, Cpu cpu) {
  if (record.needed.test(cpu)) return class_named(record.sent.test(cpu) ? "needed" : "missed");
  for (u32 at = 0; at < kNrExcess; ++at)
    if (record.excess[at].test(cpu)) return class_named(name_of(Excess{static_cast<u8>(at)}));
  return record.mask.test(cpu) ? class_named("mask") : nullptr;
}

std::string cpu_range(Cpu first, Cpu last) {
  return first == last ? fmt::format("CPU {}", first) : fmt::format("CPUs {}-{}", first, last);
}

/// Where things are in the picture of one era.
struct Layout {
  static constexpr double kWidth = 1100;
  static constexpr double kRow = 18;
  static constexpr double kAxis = 22;
  static constexpr double kMinimum = 1.5;  ///< a single CPU is to be seen among thousands
  static constexpr double kPerLetter = 6.5;
  static constexpr std::size_t kMaxLetters = 70;

  double label = 0;
  double cell = 0;

  Layout(const std::vector<std::string>& labels, u32 nr_cpus) {
    std::size_t longest = 0;
    for (const std::string& each : labels) longest = std::max(longest, each.size());
    label = static_cast<double>(longest) * kPerLetter + 12;
    cell = std::min(16.0, (kWidth - label - 20) / nr_cpus);
  }

  double x(Cpu cpu) const { return label + cell * cpu; }
};

std::string axis(const Layout& layout, u32 nr_cpus) {
  u32 step = 1;
  while (layout.cell * step < 36) step *= 2;
  std::string svg = fmt::format(
      "<text class=\"axis\" x=\"{:.1f}\" y=\"12\" text-anchor=\"end\">CPU"
      "</text>",
      layout.label - 8);
  const auto tick = [&](Cpu cpu) {
    svg += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"15\" y2=\"{1:.0f}\"/>"
        "<text class=\"axis\" x=\"{0:.2f}\" y=\"12\">{2}</text>",
        layout.x(cpu), Layout::kAxis - 2, cpu);
  };
  for (Cpu cpu = 0; cpu < nr_cpus; cpu += step) tick(cpu);
  const Cpu last = nr_cpus - 1;
  if (layout.cell * (last % step) >= 36) tick(last);
  svg += fmt::format("<line x1=\"{0:.2f}\" x2=\"{1:.2f}\" y1=\"{2:.0f}\" y2=\"{2:.0f}\"/>",
                     layout.x(0), layout.x(nr_cpus), Layout::kAxis - 2);
  return svg + '\n';
}

/// One flush as cells, one column a CPU; equal neighbours are one rectangle.
std::string cells(const FlushRow& row, const Layout& layout, double y, u32 nr_cpus) {
  std::string by_class[std::size(kClasses)];
  for (Cpu cpu = 0; cpu < nr_cpus;) {
    const CpuClass* is = class_of(row.record, cpu);
    Cpu end = cpu + 1;
    while (end < nr_cpus && class_of(row.record, end) == is) ++end;
    if (is != nullptr) {
      const double width = layout.cell * (end - cpu) - (layout.cell > 4 ? 1 : 0);
      by_class[is - kClasses] += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\">"
          "<title>{}: {}; {}</title></rect>",
          is->name, layout.x(cpu), y + 2, std::max(width, Layout::kMinimum), Layout::kRow - 4,
          cpu_range(cpu, end - 1), is->words, escaped(reach_text(row.record)));
    }
    cpu = end;
  }
  std::string svg;
  for (const std::string& rectangles : by_class) svg += rectangles;
  return svg;
}

std::string picture(const EraResult& era, u32 nr_cpus) {
  const std::size_t rows = std::min(era.rows.size(), kPictureRows);
  std::vector<std::string> labels;
  u64 shown = 0;
  for (std::size_t at = 0; at < rows; ++at) {
    const FlushRow& row = era.rows[at];
    labels.push_back(fmt::format("{} x {}", row.count, request_text(row)));
    if (labels.back().size() > Layout::kMaxLetters)
      labels.back().replace(Layout::kMaxLetters - 3, std::string::npos, "...");
    shown += row.count;
  }
  if (rows == 0) return "<p>no flushes</p>\n";
  const Layout layout(labels, nr_cpus);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"CPUs reached, flush by flush, "
      "under {}\">\n",
      Layout::kWidth, Layout::kAxis + Layout::kRow * static_cast<double>(rows) + 4,
      escaped(era.rules.name));
  svg += axis(layout, nr_cpus);
  for (std::size_t at = 0; at < rows; ++at) {
    const double y = Layout::kAxis + Layout::kRow * static_cast<double>(at);
    svg += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>", y + 13, escaped(labels[at]));
    svg += cells(era.rows[at], layout, y, nr_cpus) + '\n';
  }
  svg += "</svg>\n";
  if (shown < era.total.flushes)
    svg +=
        fmt::format("<p>... and {} more flushes, not in the picture; the totals count them</p>\n",
                    era.total.flushes - shown);
  return svg;
}

std::string totals(const Comparison& run) {
  std::string html = "<table><tr><th>totals</th>";
  for (const EraResult& era : run.eras) html += fmt::format("<th>{}</th>", escaped(era.rules.name));
  html += "</tr>\n";
  for (const TotalsRow& row : totals_rows(run)) {
    const std::size_t indent = row.name.find_first_not_of(' ');
    const bool loud = row.name.starts_with("MISSED") ||
                      (row.name == "violations" && std::any_of(row.counts.begin(), row.counts.end(),
                                                               [](u64 n) { return n != 0; }));
    html += fmt::format("<tr{}><td class=\"part{}\">{}</td>", loud ? " class=\"loud\"" : "",
                        indent / 2, escaped(row.name.substr(indent)));
    for (const u64 count : row.counts) html += fmt::format("<td>{}</td>", count);
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string verdict(const EraResult& era) {
  const bool violated = era.nr_violations != 0;
  std::string html = fmt::format("<div class=\"verdict{}\"><b>{}: {}</b>",
                                 violated ? " violated" : "", escaped(era.rules.name),
                                 violated ? escaped(verdict_text(era)) : "every verdict holds");
  if (violated) {
    html += "<ul>\n";
    for (const std::string& line : violation_lines(era))
      html += fmt::format("<li>{}</li>\n", escaped(line));
    html += "</ul>";
  }
  return html + "</div>\n";
}

std::string legend() {
  std::string html =
      "<p class=\"legend\">One line a group of equal flushes, one column a CPU:<br>\n";
  for (auto each = std::rbegin(kClasses); each != std::rend(kClasses); ++each)
    html += fmt::format(
        "<span{}><svg viewBox=\"0 0 12 12\"><rect class=\"{}\" width=\"12\" height=\"12\"/></svg> "
        "{}</span>\n",
        each->name == "missed" ? " class=\"loud\"" : "", each->name, each->words);
  return html + "</p>\n";
}

std::string section(const Comparison& run) {
  std::string html = fmt::format("<h2>{}</h2>\n<p class=\"about\">",
                                 escaped(run.title.empty() ? run.scenario : run.title));
  if (!run.about.empty()) html += escaped(run.about) + "<br>";
  html += escaped(machine_text(run)) + "</p>\n";
  for (const EraResult& era : run.eras) html += verdict(era);
  for (const EraResult& era : run.eras)
    html += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n",
                        escaped(era.rules.name), picture(era, run.machine.nr_cpus));
  html += totals(run);
  for (std::size_t at = 1; at < run.eras.size(); ++at) {
    html += fmt::format("<h3>{} &rarr; {}</h3>\n", escaped(run.eras[0].rules.name),
                        escaped(run.eras[at].rules.name));
    for (const std::string& line : explain(run.eras[0], run.eras[at]))
      html += fmt::format("<p>{}</p>\n", escaped(line));
  }
  if (run.stopped) html += "<p>Interrupted: this is what was done until then.</p>\n";
  return html;
}

}  // namespace

std::string compare_html(const std::vector<Comparison>& runs) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>hvtlb compare</title>"
      "<style>{}</style></head><body>\n<h1>CPUs reached by TLB flushes</h1>\n",
      kStyle);
  html += legend();
  for (const Comparison& run : runs) html += section(run);
  return html + "</body></html>\n";
}

}  // namespace hvtlb
