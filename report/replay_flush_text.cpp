// One flush of a replay as one line.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "report/replay_text.h"

namespace hvtlb {
namespace {

std::string size_text(u64 bytes) {
  static constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double size = static_cast<double>(bytes);
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.4g} {}", size, kUnits[unit]);
}

/// `all`, `4 KiB`, `8 MiB`; `+tables` when page tables were freed.
std::string range_text(const FlushRangeEvent* request) {
  if (request == nullptr) return "batch";
  std::string text = "all";
  if (request->end != kTlbFlushAll) text = size_text(request->end - request->start);
  return request->freed_tables ? text + " +tables" : text;
}

std::string_view native_text(NativeKind kind) {
  switch (kind) {
    case NativeKind::kPlain: return "native";
    case NativeKind::kPeriodicTrim: return "round";
    case NativeKind::kImmediateTrim: return "trim";
    case NativeKind::kNoIpi: return "alone";
  }
  return "";
}

std::string_view way_text(const FlushRecord& record) {
  switch (record.outcome) {
    case Outcome::kNone: return "nobody";
    case Outcome::kLocal: return "local";
    case Outcome::kNative: return native_text(native_kind(record));
    case Outcome::kHypercall: return record.swept_by_all ? "all" : "call";
  }
  return "";
}

}  // namespace

std::string replayed_flush_text(const ReplayedFlush& flush, const std::vector<std::string>& eras) {
  const CpuMask& model = flush.eras.front()->mask;
  std::string mask = model.to_list();
  if (flush.recorded_mask) {
    const std::array<u64, 1> words{*flush.recorded_mask};
    const CpuMask recorded = CpuMask::from_words(words, std::min<u32>(model.size(), kBitsPerWord));
    if (model.size() <= kBitsPerWord && recorded != model)
      mask = fmt::format("{} (model {})", recorded.to_list(), mask);
  }
  const std::string mm = flush.mm_serial == 0 ? "-" : fmt::format("mm{}", flush.mm_serial);
  std::string text = fmt::format("{:>15.6f} [{:03}] {:<15} {:<5} {:<16} mask {:<10}",
                                 static_cast<double>(flush.time_ns) / 1e9, flush.cpu, flush.comm,
                                 mm, range_text(flush.request), mask);
  for (std::size_t at = 0; at < eras.size(); ++at) {
    const FlushRecord& record = *flush.eras[at];
    text += fmt::format(" | {} {:<6} {:<8}", eras[at], way_text(record),
                        record.outcome == Outcome::kNone ? "" : record.sent.to_list());
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

}  // namespace hvtlb
