// The fuzzer against one fault of the bug zoo: how many inputs does it need?
#pragma once

#include "fuzz/alarm.h"
#include "zoo/zoo.h"

namespace hvtlb::fuzz {

/// Runs one input under the entry's fault and under the corrected rules; the finding is that the
/// fault shows. A fault of a host takes the input of decode_input.h, a race that of
/// schedules_input.h (under its faulty rules only), the others that of ops_input.h. REQUIRES: not
/// Z34, which has no litmus.
Finding run_zoo(const zoo::Entry& entry, std::span<const u8> bytes);

}  // namespace hvtlb::fuzz
