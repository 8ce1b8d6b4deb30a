// The targets with a planted fault, which must be found: it proves that each alarm works.
// HVTLB_CANARY names the target.
#include <string_view>

#include "flush/named_targets.h"
#include "fuzz/decode_target.h"
#include "fuzz/eras_target.h"
#include "fuzz/ops_target.h"
#include "fuzz/roundtrip_target.h"
#include "fuzz/scenario_target.h"
#include "fuzz/schedules_target.h"
#include "model/eras.h"

namespace hvtlb::fuzz {
namespace {

/// Forgets the last VP that it is asked to flush.
class ForgetfulHost final : public HypercallHost {
 public:
  void call(u64 control, std::span<const u64> input, HostEffect& effect) override {
    named_targets_.call(control, input, effect);
    if (!effect.vps.empty()) effect.vps.pop_back();
  }

 private:
  NamedTargetsHost named_targets_;
};

Finding forgetful_host(std::span<const u8> bytes) {
  ForgetfulHost host;
  return run_ops(bytes, &host);
}

Finding uncleared_banks(std::span<const u8> bytes) {
  return run_roundtrip(bytes, [](Rules& rules) { rules.hv_bank_clearing = BankClearing::kNone; });
}

Finding unbounded_vps(std::span<const u8> bytes) {
  return run_decode(bytes, {.vps_unbounded = true});
}

Finding lazy_cpus_skipped(std::span<const u8> bytes) {
  return run_scenario(bytes, [](Rules& rules) { rules.freed_tables = FreedTables::kSkipLazy; });
}

Finding unfiltered_fix(std::span<const u8> bytes) {
  Rules rules = find_era(kEraWithFix)->rules;
  rules.hv_targets = HypervTargets::kWholeMask;
  return run_eras(bytes, &rules);
}

Finding missing_fence(std::span<const u8> bytes) {
  return run_schedules(bytes,
                       [](explore::Litmus& litmus) { litmus.rules.fence_if_bit_set = false; });
}

struct Canary {
  std::string_view target;
  Finding (*run)(std::span<const u8> bytes);
};

constexpr Canary kCanaries[] = {{"ops", forgetful_host},   {"roundtrip", uncleared_banks},
                                {"decode", unbounded_vps}, {"scenario", lazy_cpus_skipped},
                                {"eras", unfiltered_fix},  {"schedules", missing_fence}};

const Canary& chosen_canary() {
  const char* const name = std::getenv("HVTLB_CANARY");
  for (const Canary& canary : kCanaries)
    if (name != nullptr && canary.target == name) return canary;
  std::fprintf(stderr, "fuzz_canary: HVTLB_CANARY must name a target\n");
  std::_Exit(2);
}

}  // namespace
}  // namespace hvtlb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& canary = hvtlb::fuzz::chosen_canary();
  hvtlb::fuzz::require_none("fuzz_canary", canary.run({data, size}));
  return 0;
}
