// libFuzzer target: any bytes as a hypercall, to every host.
#include "fuzz/decode_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_decode", hvtlb::fuzz::run_decode({data, size}));
  return 0;
}
