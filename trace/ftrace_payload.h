// What the events of a recording carry, in ftrace text.
#pragma once

#include <string_view>

#include "trace/event.h"

namespace hvtlb {

/// Reads the payload of the event called `name` into `action` (`OtherEvent` for a name that the
/// replay does not know). False when a known event is not readable: cut, wrapped, or faulted.
bool parse_ftrace_payload(std::string_view name, std::string_view payload, TraceAction& action);

}  // namespace hvtlb
