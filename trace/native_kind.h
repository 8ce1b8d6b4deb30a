// What a flush by the native path was, in the words that every report uses.
#pragma once

#include "flush/recorder.h"

namespace hvtlb {

enum class NativeKind : u8 {
  kPlain,          ///< IPIs to whom the flush is for
  kPeriodicTrim,   ///< the periodic trim round: once per HZ, stale CPUs are reached as well
  kImmediateTrim,  ///< the fix's: nobody else needs the flush, so the stale CPUs are trimmed at
                   ///< once
  kNoIpi,          ///< neither somebody else to reach nor anybody to trim
};

/// REQUIRES: the flush went out by the native path.
inline NativeKind native_kind(const FlushRecord& record) {
  // The request's own flag is the periodic round's; the immediate trim sets it only later.
  if (record.request.trim_cpumask) return NativeKind::kPeriodicTrim;
  if (record.nr_ipis() == 0) return NativeKind::kNoIpi;
  return record.trim ? NativeKind::kImmediateTrim : NativeKind::kPlain;
}

}  // namespace hvtlb
