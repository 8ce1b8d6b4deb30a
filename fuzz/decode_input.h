// A hypercall as a guest may make it, and the VPs that exist, from bytes:
//   0      bits 1:0 and 7: the input is in registers when all are set; 6:2 choose the VPs
//   1..2   where in its page the input begins
//   3..10  the control word
//   11..   the input
#pragma once

#include <array>
#include <span>

#include "fuzz/byte_source.h"
#include "host/hypercall_input.h"
#include "model/types.h"

namespace hvtlb::fuzz {

class DecodeInput {
 public:
  explicit DecodeInput(std::span<const u8> bytes);

  u64 control() const { return control_; }
  std::span<const u32> vps() const { return vps_; }
  host::Input input() const {
    return fast_ ? host::Input::registers(registers_) : host::Input::memory(bytes_, gpa_offset_);
  }

 private:
  bool fast_ = false;
  u32 gpa_offset_ = 0;
  u64 control_ = 0;
  std::span<const u8> bytes_;
  std::array<u64, host::kRegisterWords> registers_{};
  std::span<const u32> vps_;
};

}  // namespace hvtlb::fuzz
