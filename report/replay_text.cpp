#include "report/replay_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "report/replay_explain.h"
#include "report/table.h"

namespace hvtlb {
namespace {

using Align = Table::Align;

Table table_of(std::size_t left, std::size_t right) {
  std::vector<Align> columns(left, Align::kLeft);
  columns.insert(columns.end(), right, Align::kRight);
  return Table(columns);
}

std::string plural(u64 count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string era_title(const EraTotals& era, bool recorded) {
  return fmt::format("{} ({}{})", era.name, recorded ? "recorded, " : "",
                     era.hyperv ? "Hyper-V" : "native");
}

std::string head_text(const ReplayResult& result, const ReplayTextOptions& options) {
  const ReadStats& read = result.read;
  std::string text = fmt::format("{}: {}, {}, {:.3f} s on {}, HZ {}\n", options.file, read.format,
                                 plural(read.lines, "line", "lines"),
                                 static_cast<double>(result.duration_ns) / 1e9,
                                 plural(result.nr_cpus, "CPU", "CPUs"), result.hz);
  text += "  events:";
  bool first = true;
  for (u32 at = kNrTraceActions; at-- > 0;) {
    if (read.events[at] == 0 || trace_action_name(at) == "lost") continue;
    text += fmt::format("{} {} {}", first ? "" : ",", read.events[at], trace_action_name(at));
    first = false;
  }
  text += first ? " none\n" : "\n";
  if (read.skipped == 0)
    text += "  every line could be read";
  else
    text += fmt::format("  {} could not be read (first: line {})",
                        plural(read.skipped, "line", "lines"), read.first_skipped);
  if (read.lost_reports == 0 && read.overwritten == 0)
    text += "; no events lost\n";
  else
    text += fmt::format("; events lost: {}, overwritten before reading: {}\n",
                        read.lost_events != 0 ? fmt::format("{}", read.lost_events)
                                              : (read.lost_reports != 0 ? "some" : "0"),
                        read.overwritten);
  if (result.beyond_cpus != 0)
    text += fmt::format("  {} on CPUs beyond the {} of the machine left out (see --cpus)\n",
                        plural(result.beyond_cpus, "event", "events"), result.nr_cpus);
  if (!result.has_time)
    text += "  events without a time in seconds: jiffies do not advance by them\n";
  if (result.unknown_context != 0)
    text +=
        "  no flags column: every switch to init_mm is taken for a flush handler's, and the other "
        "eras do without\n";
  return text;
}

std::string conformance_text(const ReplayResult& result) {
  const Conformance& c = result.conformance;
  std::string text = "the model against the recording\n";
  if (result.mask_events() == 0 && result.eras.front().flushes != 0)
    text += fmt::format(
        "  NO MASKS WERE RECORDED (there is no ntm event). {} to more than this CPU by the model: "
        "no\n"
        "  mask of them could be compared, and nothing below is confirmed by the kernel.\n",
        plural(c.multi_not_seen, "flush goes", "flushes go"));
  text += fmt::format("  mask before flush: {}\n", share_text(c.masks_equal, c.masks, "equal"));
  if (c.generations != 0)
    text += fmt::format("  generation made:   {}\n",
                        share_text(c.generations_equal, c.generations, "equal"));
  if (c.first_mismatch_line != 0)
    text += fmt::format("  first difference:  line {}, recorded {:#x}, model {:#x}\n",
                        c.first_mismatch_line, c.first_mismatch_recorded, c.first_mismatch_model);
  if (c.masks_first_sight != 0)
    text += fmt::format("  {} taken over, not compared: the mm is older than the recording\n",
                        plural(c.masks_first_sight, "mask", "masks"));
  if (c.masks_batched != 0)
    text += fmt::format(
        "  {} without an mm (batched unmaps): mask as recorded in every era, needed not known\n",
        plural(c.masks_batched, "flush", "flushes"));
  if (c.joined_late != 0)
    text += fmt::format("  {} joined by another CPU between the call and the choice of targets\n",
                        plural(c.joined_late, "flush", "flushes"));
  if (c.multi_not_seen != 0 && result.mask_events() != 0)
    text += fmt::format("  {} that the model sends to other CPUs, without an ntm event\n",
                        plural(c.multi_not_seen, "flush", "flushes"));
  const auto known = [&](const EraTotals& era) {
    std::string parts;
    for (u32 at = 0; at < kNrKnowledge; ++at)
      parts += fmt::format("{}{} {} ({})", at == 0 ? "" : ", ", name_of(Knowledge{u8(at)}),
                           era.knowledge[at], percent_text(era.knowledge[at], era.flushes));
    return parts;
  };
  text += fmt::format("  mm and mask known: {}\n", known(result.eras.front()));
  if (result.eras.size() > 1 &&
      !std::equal(std::begin(result.eras[0].knowledge), std::end(result.eras[0].knowledge),
                  std::begin(result.eras[1].knowledge)))
    text += fmt::format("  in the other eras: {}\n", known(result.eras[1]));
  text +=
      "  (exact: the mm's life began in the recording, or a recorded mask confirmed it; bounded: "
      "CPUs not\n  seen yet may be in the mask; guessed: also what the flushing CPU runs is "
      "inferred)\n";
  return text;
}

std::string totals_text(const ReplayResult& result) {
  Table table = table_of(1, result.eras.size());
  std::vector<std::string> head{"totals"};
  for (const EraTotals& era : result.eras) head.push_back(era_title(era, &era == &result.eras[0]));
  table.row(head);
  const auto add = [&](std::string_view name, const std::function<u64(const EraTotals&)>& count,
                       bool always = true) {
    std::vector<std::string> cells{std::string(name)};
    bool any = always;
    for (const EraTotals& era : result.eras) {
      any |= count(era) != 0;
      cells.push_back(fmt::format("{}", count(era)));
    }
    if (any) table.row(cells);
  };
  add("flushes", [](const EraTotals& e) { return e.flushes; });
  add("  local, this CPU alone", [](const EraTotals& e) { return e.local; });
  add(
      "  to nobody", [](const EraTotals& e) { return e.nobody; }, false);
  add("  by the native path", [](const EraTotals& e) { return e.native; });
  add(
      "    of them without an IPI", [](const EraTotals& e) { return e.no_ipi; }, false);
  add(
      "    of them immediate trims", [](const EraTotals& e) { return e.immediate_trims; }, false);
  add(
      "    of them periodic trim rounds", [](const EraTotals& e) { return e.periodic_trims; },
      false);
  add("    IPIs", [](const EraTotals& e) { return e.ipis; });
  add("  hypercalls", [](const EraTotals& e) { return e.hypercalls; });
  add(
      "    of them to all processors", [](const EraTotals& e) { return e.all_processors; }, false);
  add("    targets", [](const EraTotals& e) { return e.targets; });
  add("CPUs reached", [](const EraTotals& e) { return e.reached; });
  add("  of them needed", [](const EraTotals& e) { return e.needed - e.missed; });
  for (u32 at = 0; at < kNrExcess; ++at)
    add(
        fmt::format("  too many: {}", name_of(Excess{static_cast<u8>(at)})),
        [at](const EraTotals& e) { return e.excess[at]; }, false);
  add(
      "MISSED: needed and not reached", [](const EraTotals& e) { return e.missed; }, false);
  add("violations of P1 to P4", [](const EraTotals& e) { return e.nr_violations(); });
  std::string text = table.text();
  for (const EraTotals& era : result.eras)
    if (era.first_violation)
      text += fmt::format("  {} violated: {}\n", era.name, to_string(*era.first_violation));
  return text;
}

/// A top list: some columns of names, flushes, and for each era reached and needless.
class TopList {
 public:
  TopList(const ReplayResult& result, std::vector<std::string> names, bool flushes)
      : table_(table_of(names.size(), (flushes ? 1 : 0) + result.eras.size())) {
    if (flushes) names.push_back("flushes");
    for (const EraTotals& era : result.eras) names.push_back(era.name);
    table_.row(std::move(names));
  }

  void row(std::vector<std::string> cells, const std::vector<u64>& reached,
           const std::vector<u64>& needless) {
    for (std::size_t at = 0; at < reached.size(); ++at)
      cells.push_back(fmt::format("{} ({})", reached[at], needless[at]));
    table_.row(std::move(cells));
  }

  std::string text() const { return table_.text(2); }

 private:
  Table table_;
};

std::string by_mm_text(const ReplayResult& result, std::size_t top) {
  TopList list(result, {"mm", "task"}, true);
  for (std::size_t at = 0; at < std::min(top, result.by_mm.size()); ++at) {
    const MmRow& row = result.by_mm[at];
    list.row({fmt::format("mm{}", row.serial), row.comm, fmt::format("{}", row.tally.flushes)},
             row.tally.reached, row.tally.needless);
  }
  return list.text();
}

std::string by_comm_text(const ReplayResult& result, std::size_t top) {
  const std::size_t era = result.eras.size() > 1 ? 1 : 0;
  std::vector<const std::pair<const std::string, FlushTally>*> rows;
  for (const auto& row : result.by_comm) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [era](const auto* a, const auto* b) {
    return a->second.reached[era] > b->second.reached[era];
  });
  TopList list(result, {"flushing task"}, true);
  for (std::size_t at = 0; at < std::min(top, rows.size()); ++at)
    list.row({rows[at]->first, fmt::format("{}", rows[at]->second.flushes)},
             rows[at]->second.reached, rows[at]->second.needless);
  return list.text();
}

std::string by_victim_text(const ReplayResult& result, std::size_t top) {
  const std::size_t era = result.eras.size() > 1 ? 1 : 0;
  std::vector<const VictimRow*> rows;
  for (const VictimRow& row : result.victims)
    if (std::any_of(row.reached.begin(), row.reached.end(), [](u64 n) { return n != 0; }))
      rows.push_back(&row);
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [era](const VictimRow* a, const VictimRow* b) {
    return a->reached[era] > b->reached[era];
  });
  TopList list(result, {"reached by others"}, false);
  for (std::size_t at = 0; at < std::min(top, rows.size()); ++at)
    list.row({fmt::format("CPU {}", rows[at]->cpu)}, rows[at]->reached, rows[at]->needless);
  return list.text();
}

}  // namespace

std::string share_text(u64 part, u64 whole, std::string_view what) {
  if (whole == 0) return "none to compare";
  return fmt::format("{} of {} {} ({})", part, whole, what, percent_text(part, whole));
}

std::string replay_text(const ReplayResult& result, const ReplayTextOptions& options) {
  std::string text = head_text(result, options) + '\n' + conformance_text(result) + '\n';
  text += totals_text(result) + '\n';
  for (const std::string& line : explain_replay(result)) text += line + '\n';
  if (options.top == 0 || result.eras.front().flushes == 0) return text;
  text += "\nCPUs reached, and in brackets those that did not need it\n";
  text += by_mm_text(result, options.top);
  text += by_comm_text(result, options.top);
  text += by_victim_text(result, options.top);
  return text;
}

}  // namespace hvtlb
