// Litmuses from numbers, small enough to be looked at whole.
#pragma once

#include <array>
#include <fmt/format.h>
#include <optional>
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

/// The same where the last CPU has the first one's program. Nothing: a process that enables LAM
/// runs on one CPU.
inline std::optional<explore::Litmus> small_litmus_with_twins(u32 seed, u8 cpus = kTwoCpus) {
  explore::Litmus litmus = small_litmus(seed, cpus);
  for (const std::vector<Op>& program : litmus.programs)
    for (const Op& op : program)
      if (op.kind == OpKind::kEnableLam) return std::nullopt;
  std::vector<Op>& last = litmus.programs.back();
  last = litmus.programs.front();
  for (Op& op : last) op.cpu = litmus.machine.nr_cpus - 1;
  litmus.name += ", with twins";
  return litmus;
}

}  // namespace hvtlb::test
