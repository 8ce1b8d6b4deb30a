// Mutations that respect records, for the targets whose inputs are made of them (ops_input.h): an
// operation is inserted, removed, moved or changed as a whole, and the ones behind it stay what
// they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hvtlb::fuzz {

/// Changes `data`, of which `size` bytes are used and `data.size()` may be. Returns the new size: a
/// multiple of the record's, at least one record. REQUIRES: room for a record.
std::size_t mutate_records(std::span<std::uint8_t> data, std::size_t size, unsigned seed);

/// Records of `first`, then of `second`, cut at records. Returns the size of what is in `out`.
std::size_t cross_records(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                          std::span<std::uint8_t> out, unsigned seed);

}  // namespace hvtlb::fuzz
