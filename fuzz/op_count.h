// How many guest operations a process ran, told at its end: an execution is a poor measure where
// inputs hold one operation or two hundred.
#pragma once

#include <cstdint>
#include <cstdio>

namespace hvtlb::fuzz {

struct OpCount {
  std::uint64_t done = 0;
  ~OpCount() {
    if (done != 0)
      std::fprintf(stderr, "guest operations: %llu\n", static_cast<unsigned long long>(done));
  }
};

inline OpCount op_count;

}  // namespace hvtlb::fuzz
