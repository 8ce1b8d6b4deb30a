// The machine under a fuzzer: bytes choose the machine, the era and the operations; every flush and
// every CPU is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/host_port.h"

namespace hvtlb::fuzz {

/// Operations beyond this many are not read from an input.
inline constexpr std::uint32_t kMaxFuzzOps = 400;

/// Runs one input. Returns what is broken, or nothing: a violation of P1 to P4, a CPU that needed a
/// flush and was not reached, or interrupts left off. `host`, when given, answers the hypercalls:
/// the canary's is faulty.
std::optional<std::string> run_ops(std::span<const std::uint8_t> bytes,
                                   HypercallHost* host = nullptr);

}  // namespace hvtlb::fuzz
