// A replayed recording as text.
#pragma once

#include <string>

#include "trace/replay_result.h"

namespace hvtlb {

struct ReplayTextOptions {
  std::string file;      ///< as the user named it
  std::size_t top = 10;  ///< rows of every top list
};

/// The summary: what was read, how well the model agrees with it, totals by era, top lists.
std::string replay_text(const ReplayResult& result, const ReplayTextOptions& options);

/// One line for one flush; `result` names the eras.
std::string replayed_flush_text(const ReplayedFlush& flush, const std::vector<std::string>& eras);

/// `103 of 103 equal (100 %)`. 100 % is all of them, 0 % is none.
std::string share_text(u64 part, u64 whole, std::string_view what);

}  // namespace hvtlb
