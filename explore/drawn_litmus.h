// A litmus from numbers, for RapidCheck and libFuzzer: every draw gives one that a litmus file can
// hold and that a kernel can come to. What does not fit is left out.
#pragma once

#include <span>
#include <vector>

#include "explore/litmus.h"
#include "model/eras.h"

namespace hvtlb::explore {

/// Zeros are the plainest: two CPUs with two processes on Hyper-V.
struct MachineDraw {
  u8 cpus = 0;
  u8 flags = 0;
  u8 vps = 0;
  u8 mms = 0;
};

struct OpDraw {
  u8 kind = 0;
  u8 cpu = 0;
  u8 mm = 0;
  u8 what = 0;  ///< the range of a flush, the jiffies of a tick
};

struct LitmusDraw {
  MachineDraw machine;
  std::vector<OpDraw> before;
  std::vector<OpDraw> programs;  ///< each CPU's part in its order
};

// Flags of a MachineDraw.
inline constexpr u8 kDrawNative = 1;
inline constexpr u8 kDrawNoPcid = 2 + 4 + 8;  ///< all of them
inline constexpr u8 kDrawNoExHint = 16;
inline constexpr u8 kDrawLam = 32;
inline constexpr u8 kDrawTemporary = 64;  ///< the last mm is only used as a temporary one

/// Of a flush's `what`: from here on it frees tables.
inline constexpr u8 kDrawFreedTables = 192;
inline constexpr u32 kNrDrawnRanges = 8;
inline constexpr u32 kJiffiesADraw = 4;

/// What a draw's `kind` chooses from, modulo their number: what is common stands there often.
std::span<const OpKind> drawn_kinds_before();
std::span<const OpKind> drawn_kinds();

/// The pages that a flush's `what` chooses, modulo kNrDrawnRanges.
Op drawn_range(u32 which);

/// Whether the era has no known fault that needs concurrency, but for Z41.
bool holds_in_every_order(const Era& era);

/// Whether its flushes may free tables: not where Z41 is.
bool may_free_tables(const Era& era);

/// Without `freed_tables` no flush frees tables: in eager eras such a flush may be too late for a
/// CPU that leaves the mm (zoo Z41).
Litmus litmus_of(const LitmusDraw& draw, const Rules& rules, bool freed_tables);

}  // namespace hvtlb::explore
