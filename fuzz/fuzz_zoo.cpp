// libFuzzer target: stops when it has shown the fault of the zoo that HVTLB_ZOO names. It measures
// how many executions that takes.
#include "fuzz/zoo_target.h"

namespace {

const hvtlb::zoo::Entry& chosen_entry() {
  const char* const id = std::getenv("HVTLB_ZOO");
  const auto* const entry = id != nullptr ? hvtlb::zoo::find_entry(id) : nullptr;
  using hvtlb::zoo::Kind;
  if (entry == nullptr || (entry->kind == Kind::kRace && entry->scenario.empty())) {
    std::fprintf(stderr, "fuzz_zoo: HVTLB_ZOO must name an entry; Z34 has no litmus to draw\n");
    std::_Exit(2);
  }
  return *entry;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hvtlb::zoo::Entry& entry = chosen_entry();
  hvtlb::fuzz::require_none("fuzz_zoo", hvtlb::fuzz::run_zoo(entry, {data, size}));
  return 0;
}
