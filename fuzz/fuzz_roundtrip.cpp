// libFuzzer target: what the builder writes is what the hosts read.
#include "fuzz/roundtrip_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_roundtrip", hvtlb::fuzz::run_roundtrip({data, size}));
  return 0;
}
