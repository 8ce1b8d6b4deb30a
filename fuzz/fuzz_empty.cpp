// libFuzzer target: nothing. What the others' speed is measured by.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* /*data*/, std::size_t /*size*/) {
  return 0;
}
