// Litmuses from numbers, small enough to be looked at whole.
#pragma once

#include <array>
#include <fmt/format.h>
#include <random>

#include "explore/drawn_litmus.h"
#include "model/eras.h"

namespace hvtlb::test {

/// How many CPUs, as a draw says it.
inline constexpr u8 kTwoCpus = 0;
inline constexpr u8 kThreeCpus = 2;

/// In one of all eras, with up to four operations before and as many in the programs. The same seed
/// gives the same.
inline explore::Litmus small_litmus(u32 seed, u8 cpus = kTwoCpus) {
  std::mt19937 random(seed);
  const auto byte = [&] { return static_cast<u8>(random()); };
  const auto op = [&] { return explore::OpDraw{byte(), byte(), byte(), byte()}; };
  explore::LitmusDraw draw;
  draw.machine = {cpus, byte(), byte(), byte()};
  for (u64 left = random() % 5; left != 0; --left) draw.before.push_back(op());
  for (u64 left = 2 + random() % 3; left != 0; --left) draw.programs.push_back(op());
  const Era& era = eras()[random() % eras().size()];
  explore::Litmus litmus = litmus_of(draw, era.rules, explore::may_free_tables(era));
  litmus.name = fmt::format("drawn from {} in {}", seed, era.name);
  return litmus;
}

}  // namespace hvtlb::test
