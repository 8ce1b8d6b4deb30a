// `hvtlb encode`: a request in, a hypercall out.
#pragma once

#include "cli/json_lines.h"

namespace hvtlb::cli {

/// Answers one request. Throws `LineError`.
Json encode_line(const Json& line);

}  // namespace hvtlb::cli
