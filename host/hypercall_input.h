// What a guest hands over with a hypercall, as views over it: the control word's fields, and the
// input itself, in memory or in registers (TLFS 3.6 to 3.8). Nothing here judges; the profiles do.
//
// The whole of host/ shares no code and no constant with the side that builds hypercalls, so that
// one wrong offset cannot hide in both.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hvtlb::host {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The control word: what is called, and how much input it says there is.
class Control {
 public:
  explicit constexpr Control(u64 raw) : raw_(raw) {}

  [[nodiscard]] constexpr u16 code() const { return static_cast<u16>(field(0, 16)); }
  [[nodiscard]] constexpr u32 variable_header_words() const {
    return static_cast<u32>(field(17, 10));
  }
  [[nodiscard]] constexpr bool nested() const { return field(31, 1) != 0; }
  [[nodiscard]] constexpr u32 rep_count() const { return static_cast<u32>(field(32, 12)); }
  [[nodiscard]] constexpr u32 rep_start() const { return static_cast<u32>(field(48, 12)); }
  /// Bits 30:27, 47:44 or 63:60, which must be zero. "Nested" is not one of them.
  [[nodiscard]] constexpr bool reserved() const {
    return (field(27, 4) | field(44, 4) | field(60, 4)) != 0;
  }

 private:
  [[nodiscard]] constexpr u64 field(u32 low, u32 width) const {
    return raw_ >> low & ((u64{1} << width) - 1);
  }
  u64 raw_;
};

inline constexpr std::size_t kRegisterWords = 14;  ///< RDX, R8, XMM0.lo, XMM0.hi .. XMM5.hi
inline constexpr u32 kGuestPage = 4096;

/// The input. Reading past what is there is answered, not undefined: past `bytes` the guest has
/// nothing mapped, past the fourteen words there are no registers. Both forms have the same layout,
/// so a profile reads either through this one view.
/// The memory form does not own its bytes: they must outlive it.
class Input {
 public:
  /// `gpa_offset`: where in its guest page the input begins.
  static Input memory(std::span<const u8> bytes, u32 gpa_offset) {
    Input input;
    input.bytes_ = bytes;
    input.gpa_offset_ = gpa_offset % kGuestPage;
    return input;
  }
  static Input registers(std::span<const u64, kRegisterWords> words) {
    Input input;
    input.fast_ = true;
    for (std::size_t at = 0; at < kRegisterWords; ++at) input.words_[at] = words[at];
    return input;
  }

  [[nodiscard]] bool fast() const { return fast_; }
  [[nodiscard]] u32 gpa_offset() const { return gpa_offset_; }
  [[nodiscard]] std::size_t size() const { return fast_ ? 8 * kRegisterWords : bytes_.size(); }
  /// Whether the bytes [offset, offset + length) can be read.
  [[nodiscard]] bool holds(std::size_t offset, std::size_t length) const {
    return offset <= size() && length <= size() - offset;
  }
  /// The word at byte `offset`, a multiple of 8. REQUIRES: holds(offset, 8).
  [[nodiscard]] u64 word(std::size_t offset) const {
    if (fast_) return words_[offset / 8];
    u64 value = 0;
    for (std::size_t byte = 8; byte-- > 0;) value = value << 8 | bytes_[offset + byte];
    return value;
  }

 private:
  std::span<const u8> bytes_;
  std::array<u64, kRegisterWords> words_{};
  u32 gpa_offset_ = 0;
  bool fast_ = false;
};

}  // namespace hvtlb::host
