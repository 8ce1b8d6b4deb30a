// A machine and what it does, read from records of eight bytes: the first is the machine's, each of
// the others an operation. Every string of bytes is valid.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "host/profile.h"
#include "model/guest.h"
#include "scenario/op.h"

namespace hvtlb::fuzz {

inline constexpr std::size_t kRecordBytes = 8;

/// Operations beyond this many are not read from an input.
inline constexpr u32 kMaxFuzzOps = 400;

struct OpsInput {
  std::size_t era = 0;                ///< an index into eras()
  MachineShape shape;                 ///< with its VP indices written out
  std::optional<host::Profile> host;  ///< who answers the hypercalls; none: who does as named
  std::vector<Op> ops;                ///< with those that make the mms
};

OpsInput read_ops_input(std::span<const u8> bytes);

/// The VP indices that a host of this machine knows.
std::vector<u32> existing_vps(const MachineShape& shape);

}  // namespace hvtlb::fuzz
