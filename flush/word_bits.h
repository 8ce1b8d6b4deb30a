// The bits of one word of a CPU set, in ascending order, without much ado when they stand side by
// side: as they do on a machine that runs one process everywhere.
#pragma once

#include <bit>

#include "model/types.h"

namespace hvtlb {

/// The members of a word that is one run: bits `begin` to `end - 1`.
struct BitRun {
  u32 begin;
  u32 end;
};

/// Whether the members of `word`, which is not 0, stand side by side.
constexpr bool is_one_run(u64 word) {
  return ((word + (word & -word)) & word) == 0;
}

/// REQUIRES: `is_one_run(word)`.
constexpr BitRun run_of(u64 word) {
  return {static_cast<u32>(std::countr_zero(word)),
          kBitsPerWord - static_cast<u32>(std::countl_zero(word))};
}

/// Calls `visit(bit)` for every member; it returns false to stop. Returns false when stopped.
/// Inlined, so that what `visit` counts stays in registers.
template <class Visit>
[[gnu::always_inline]] inline bool for_each_bit(u64 word, Visit visit) {
  if (word == 0) return true;
  if (is_one_run(word)) {
    const BitRun run = run_of(word);
    for (u32 bit = run.begin; bit < run.end; ++bit)
      if (!visit(bit)) return false;
    return true;
  }
  for (; word != 0; word &= word - 1)
    if (!visit(static_cast<u32>(std::countr_zero(word)))) return false;
  return true;
}

}  // namespace hvtlb
