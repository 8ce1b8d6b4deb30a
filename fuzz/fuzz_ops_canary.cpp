// The same with a planted fault, which must be found: it proves that the alarm works. The fault: a
// host that forgets the last VP it is asked to flush.
#include <cstdio>
#include <cstdlib>

#include "flush/named_targets.h"
#include "fuzz/ops_target.h"

namespace {

class ForgetfulHost final : public hvtlb::HypercallHost {
 public:
  void call(std::uint64_t control, std::span<const std::uint64_t> input,
            hvtlb::HostEffect& effect) override {
    named_targets_.call(control, input, effect);
    if (!effect.vps.empty()) effect.vps.pop_back();
  }

 private:
  hvtlb::NamedTargetsHost named_targets_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ForgetfulHost host;
  if (const auto broken = hvtlb::fuzz::run_ops({data, size}, &host)) {
    std::fprintf(stderr, "fuzz_ops_canary: %s\n", broken->c_str());
    std::_Exit(1);  // an exit code: to ctest a signal is an accident even where failing is right
  }
  return 0;
}
