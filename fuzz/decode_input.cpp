#include "fuzz/decode_input.h"

#include <vector>

namespace hvtlb::fuzz {
namespace {

std::vector<u32> count_from(u32 first, u32 count, u32 step = 1) {
  std::vector<u32> vps;
  for (u32 at = 0; at < count; ++at) vps.push_back(first + at * step);
  return vps;
}

/// Partitions: borders of a bank and of the last bank, gaps, an order of its own, and none at all.
const std::vector<std::vector<u32>>& partitions() {
  static const std::vector<std::vector<u32>> kPartitions{count_from(0, 3),
                                                         count_from(0, 1),
                                                         count_from(0, 64),
                                                         count_from(0, 65),
                                                         count_from(0, 130),
                                                         count_from(60, 8),
                                                         count_from(4030, 66),
                                                         count_from(0, 70, 59),
                                                         {4095, 4, 64, 63, 0, 2},
                                                         {63, 64, 127, 128},
                                                         {4096, 1, 5000, 0x7fffffff},
                                                         {}};
  return kPartitions;
}

}  // namespace

DecodeInput::DecodeInput(std::span<const u8> bytes) {
  ByteSource source(bytes);
  const u8 form = source.byte();
  fast_ = (form & 0x83) == 0x83;
  vps_ = partitions()[(form >> 2 & 31u) % partitions().size()];
  gpa_offset_ = source.word16();
  control_ = source.word64();
  bytes_ = source.rest();
  if (fast_)
    for (u64& word : registers_) word = source.word64();
}

}  // namespace hvtlb::fuzz
