// A hypercall's fields as JSON.
#pragma once

#include <span>

#include "cli/json_lines.h"

namespace hvtlb::cli {

/// `control`, `code`, counts, address space, flags, the set, the list and the raw bytes.
Json hypercall_json(u64 control, std::span<const u64> input);

/// The short form of `hvtlb step`'s events.
Json hypercall_event_json(u64 control, std::span<const u64> input);

}  // namespace hvtlb::cli
