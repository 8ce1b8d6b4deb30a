// libFuzzer target: any text as a scenario file.
#include "fuzz/scenario_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_scenario", hvtlb::fuzz::run_scenario({data, size}));
  return 0;
}
