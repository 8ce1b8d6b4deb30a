// libFuzzer target: no schedule of a litmus may break a property under an era without a race.
#include "fuzz/schedules_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_schedules", hvtlb::fuzz::run_schedules({data, size}));
  return 0;
}
