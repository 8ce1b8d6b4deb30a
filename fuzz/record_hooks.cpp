// What libFuzzer asks instead of its own mutations; linked to the targets whose inputs are records.
#include "fuzz/ops_input.h"
#include "fuzz/record_mutator.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (max_size < hvtlb::fuzz::kRecordBytes) return size;
  return hvtlb::fuzz::mutate_records({data, max_size}, size, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_size, unsigned seed) {
  if (max_size < hvtlb::fuzz::kRecordBytes) return 0;
  return hvtlb::fuzz::cross_records({first, first_size}, {second, second_size}, {out, max_size},
                                    seed);
}
