// What the program's exit code says.
#pragma once

namespace hvtlb::cli {

inline constexpr int kExitHolds = 0;          ///< plain success, or every verdict holds
inline constexpr int kExitUsage = 1;          ///< bad usage or bad input
inline constexpr int kExitUnknown = 2;        ///< a bound stopped it, or too little to answer
inline constexpr int kExitViolated = 3;       ///< a verdict is violated
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C; what was done has been reported

}  // namespace hvtlb::cli
