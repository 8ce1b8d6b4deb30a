// The builder and the decoders against each other, over states set up field by field: fast, because
// no machine runs.
#pragma once

#include "fuzz/alarm.h"
#include "model/rules.h"

namespace hvtlb::fuzz {

/// Up to two flushes from one state. A finding is a call whose bytes do not say what was meant, a
/// native set that is not the predicate's, a way that the request had no reason to take.
/// `change` is done to the rules: the canary's.
Finding run_roundtrip(std::span<const u8> bytes, void (*change)(Rules&) = nullptr);

}  // namespace hvtlb::fuzz
