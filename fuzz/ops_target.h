// The machine under a fuzzer: bytes choose the machine, the era and the operations; every flush and
// every CPU is judged by every checker there is.
#pragma once

#include "fuzz/alarm.h"
#include "fuzz/ops_input.h"
#include "model/host_port.h"

namespace hvtlb::fuzz {

/// Runs one input. A finding is a violation that no known fault of the era explains, or interrupts
/// left off. `host`, when given, answers the hypercalls: the canary's is faulty.
Finding run_ops(std::span<const u8> bytes, HypercallHost* host = nullptr);

}  // namespace hvtlb::fuzz
