// Mutated and crossed inputs stay whole records within their bounds, and the mutations reach inputs
// of every length.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "fuzz/ops_input.h"
#include "fuzz/record_mutator.h"

int main() {
  using namespace hvtlb::fuzz;
  constexpr std::size_t kMost = 20 * kRecordBytes + 3;  // no multiple of a record
  std::vector<std::uint8_t> one(kMost);
  std::vector<std::uint8_t> other(kMost);
  std::vector<std::uint8_t> crossed(kMost);
  std::size_t size = 0;
  std::size_t longest = 0;
  unsigned nr_empty = 0;
  const auto whole = [&](std::size_t bytes) {
    return bytes % kRecordBytes == 0 && bytes >= kRecordBytes && bytes <= kMost;
  };
  for (unsigned seed = 1; seed <= 20'000; ++seed) {
    other = one;
    const std::size_t other_size = size;
    size = mutate_records(one, size, seed);
    const std::size_t both =
        cross_records({one.data(), size}, {other.data(), other_size}, crossed, seed);
    if (!whole(size) || !whole(both)) {
      std::printf("seed %u: %zu and %zu bytes\n", seed, size, both);
      return 1;
    }
    longest = std::max(longest, size);
    nr_empty += size == kRecordBytes;
  }
  std::printf("longest %zu bytes, %u times without an operation\n", longest, nr_empty);
  return longest == 20 * kRecordBytes && nr_empty != 0 ? 0 : 1;
}
