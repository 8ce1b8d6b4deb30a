// Any bytes as a hypercall, answered by every host.
#pragma once

#include "fuzz/alarm.h"
#include "host/decode.h"

namespace hvtlb::fuzz {

/// A finding is an answer that contradicts itself or the partition. `faults`: the canary's.
Finding run_decode(std::span<const host::u8> bytes, const host::Faults& faults = {});

}  // namespace hvtlb::fuzz
