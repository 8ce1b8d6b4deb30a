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
  std::uint16_t word16() {
    const std::uint8_t low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }
  std::uint64_t word64() {
    std::uint64_t value = 0;
    for (unsigned at = 0; at < 8; ++at) value |= std::uint64_t{byte()} << 8 * at;
    return value;
  }
  std::span<const std::uint8_t> rest() const {
    return bytes_.subspan(empty() ? bytes_.size() : next_);
  }

  /// A number from 0 to `bound - 1`, from one byte. REQUIRES: 1 <= bound <= 256.
  std::uint32_t below(std::uint32_t bound) { return byte() % bound; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t next_ = 0;
};

}  // namespace hvtlb::fuzz
