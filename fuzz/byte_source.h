// Turns a fuzzer's bytes into numbers; an exhausted input gives zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hvtlb::fuzz {

class ByteSource {
 public:
  explicit ByteSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return next_ >= bytes_.size(); }
  std::uint8_t byte() { return empty() ? 0 : bytes_[next_++]; }

  /// A number from 0 to `bound - 1`, from one byte. REQUIRES: 1 <= bound <= 256.
  std::uint32_t below(std::uint32_t bound) { return byte() % bound; }
  bool flag() { return (byte() & 1) != 0; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

}  // namespace hvtlb::fuzz
