// libFuzzer target: a newer era never reaches more CPUs than the older one.
#include "fuzz/eras_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_eras", hvtlb::fuzz::run_eras({data, size}));
  return 0;
}
