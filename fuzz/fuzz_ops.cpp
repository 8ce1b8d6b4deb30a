// libFuzzer target: no sequence of operations may break a verdict under any era.
#include "fuzz/ops_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hvtlb::fuzz::require_none("fuzz_ops", hvtlb::fuzz::run_ops({data, size}));
  return 0;
}
