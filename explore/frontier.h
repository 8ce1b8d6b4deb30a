// A search in parts, for more than one machine: each part starts from schedules of its own.
#pragma once

#include "explore/search.h"

namespace hvtlb::explore {

/// Schedules that lead to different states, and between them to everything that lies behind.
struct Frontier {
  std::vector<std::vector<Action>> prefixes;
  /// What was seen on the way. A violation there ends every part.
  Verdict before;
};

/// Breadth first and without reduction, to the first depth with `least` states, or until there is
/// nothing to go on with. The same system gives the same frontier.
Frontier frontier(System& system, const Options& options, std::size_t least);

/// Part `index` of `of`, from 1.
struct Shard {
  u32 index = 1;
  u32 of = 1;
};
inline constexpr u32 kMaxShards = 10'000;
/// How many schedules a part gets, at least where there are so many: enough to even out that some
/// have more behind them than others.
inline constexpr u32 kPrefixesAShard = 4;

struct ShardVerdict {
  Verdict verdict;
  u64 prefixes = 0;  ///< of this part
  u64 frontier = 0;  ///< of all parts
};

/// The prefixes of the part: every `of`-th of the frontier.
std::vector<std::vector<Action>> prefixes_of(const Frontier& frontier, const Shard& shard);

/// Visits what lies behind the part's prefixes. The way to the frontier is counted in part 1.
/// REQUIRES: 1 <= index <= of.
ShardVerdict explore_shard(System& system, const Options& options, const Shard& shard);

}  // namespace hvtlb::explore
