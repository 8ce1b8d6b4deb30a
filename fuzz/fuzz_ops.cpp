// libFuzzer target: no sequence of operations may break a verdict under any era.
#include <cstdio>
#include <cstdlib>

#include "fuzz/ops_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (const auto broken = hvtlb::fuzz::run_ops({data, size})) {
    std::fprintf(stderr, "fuzz_ops: %s\n", broken->c_str());
    std::abort();
  }
  return 0;
}
