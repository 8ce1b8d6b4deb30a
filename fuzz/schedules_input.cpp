#include "fuzz/schedules_input.h"

#include <algorithm>

#include "fuzz/byte_source.h"
#include "fuzz/ops_input.h"

namespace hvtlb::fuzz {
namespace {

using explore::Change;
using explore::MemoryModel;
using explore::OpDraw;

/// What a record holds: its first byte, modulo their number.
enum Record : u8 { kBefore, kProgram, kChanges };
constexpr u32 kNrRecords = 3;
constexpr u32 kChangesARecord = 3;
constexpr u8 kSc = 1;  // in the header's byte of the memory model

std::span<const Era* const> eras_that_hold() {
  static const std::vector<const Era*> kHold = [] {
    std::vector<const Era*> hold;
    for (const Era& era : eras())
      if (explore::holds_in_every_order(era)) hold.push_back(&era);
    return hold;
  }();
  return kHold;
}

u8 draw_of_era(std::string_view name) {
  const auto hold = eras_that_hold();
  for (std::size_t at = 0; at < hold.size(); ++at)
    if (hold[at]->name == name) return static_cast<u8>(at);
  return draw_of_era(kEraBeforeFix);
}

u8 index_of(std::span<const OpKind> kinds, OpKind kind) {
  return static_cast<u8>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

/// A batch has a first page only.
u8 draw_of_range(const Op& op) {
  const bool first_page = op.kind == OpKind::kBatchAdd;
  u8 what = 0;
  for (u32 which = 0; which < explore::kNrDrawnRanges; ++which) {
    const Op range = explore::drawn_range(which);
    if (range.start == op.start && (first_page || range.end == op.end))
      what = static_cast<u8>(which);
  }
  return op.freed_tables ? explore::kDrawFreedTables + what : what;
}

void append_op(std::vector<u8>& bytes, Record record, std::span<const OpKind> kinds, const Op& op) {
  const auto at = index_of(kinds, op.kind);
  if (at == kinds.size()) return;  // unuse_temporary_mm, which the reader adds by itself
  u8 what = 0;
  if (op.kind == OpKind::kFlushMmRange || op.kind == OpKind::kBatchAdd) what = draw_of_range(op);
  if (op.kind == OpKind::kTick)
    what = static_cast<u8>(std::min<u64>(op.jiffies / explore::kJiffiesADraw, 255));
  const u8 mm = op.mm == kInitMm ? u8{0} : static_cast<u8>(op.mm - 1);
  bytes.insert(bytes.end(), {record, at, static_cast<u8>(op.cpu), mm, what, 0, 0, 0});
}

bool has_temporary(const explore::Litmus& litmus) {
  for (const auto& program : litmus.programs)
    for (const Op& op : program)
      if (op.kind == OpKind::kUseTemporaryMm) return true;
  return false;
}

}  // namespace

SchedulesInput read_schedules_input(std::span<const u8> input) {
  ByteSource header(input.first(std::min(input.size(), kRecordBytes)));
  SchedulesInput read;
  read.memory = header.byte() % 4 == kSc ? MemoryModel::kSc : MemoryModel::kTso;
  read.era = eras_that_hold()[header.below(static_cast<u32>(eras_that_hold().size()))];
  explore::MachineDraw& machine = read.litmus.machine;
  machine = {header.byte(), header.byte(), header.byte(), header.byte()};
  for (std::size_t at = kRecordBytes; at < input.size(); at += kRecordBytes) {
    ByteSource bytes(input.subspan(at, std::min(kRecordBytes, input.size() - at)));
    const u32 record = bytes.below(kNrRecords);
    if (record == kChanges) {
      for (u32 n = 0; n < kChangesARecord; ++n) {
        Change change;
        change.after = bytes.byte();
        change.which = bytes.byte();
        read.changes.push_back(change);
      }
      continue;
    }
    OpDraw draw;
    draw.kind = bytes.byte();
    draw.cpu = bytes.byte();
    draw.mm = bytes.byte();
    draw.what = bytes.byte();
    (record == kBefore ? read.litmus.before : read.litmus.programs).push_back(draw);
  }
  return read;
}

std::vector<u8> seed_of(const explore::LitmusFile& file, std::span<const Change> changes) {
  const explore::Litmus& litmus = file.litmus;
  static constexpr u8 kCpus[] = {0, 0, 0, 2, 7};  // by their number
  u8 flags = litmus.machine.hyperv ? 0 : explore::kDrawNative;
  const bool temporary = has_temporary(litmus);
  if (temporary) flags |= explore::kDrawTemporary;
  const u8 mms = file.processes.size() > 2 && !temporary ? 3 : 0;
  std::vector<u8> bytes{0, draw_of_era(file.era), kCpus[litmus.machine.nr_cpus], flags, 0, mms, 0,
                        0};
  for (const Op& op : litmus.before)
    if (op.kind != OpKind::kNewMm) append_op(bytes, kBefore, explore::drawn_kinds_before(), op);
  for (const auto& program : litmus.programs)
    for (const Op& op : program) append_op(bytes, kProgram, explore::drawn_kinds(), op);
  for (std::size_t at = 0; at < changes.size(); at += kChangesARecord) {
    bytes.push_back(kChanges);
    for (std::size_t n = at; n < at + kChangesARecord; ++n) {
      const Change change = n < changes.size() ? changes[n] : Change{};
      bytes.insert(bytes.end(), {change.after, change.which});
    }
    bytes.push_back(0);
  }
  return bytes;
}

}  // namespace hvtlb::fuzz
