#include "fuzz/zoo_target.h"

#include <fmt/format.h>

#include "fuzz/decode_input.h"
#include "fuzz/op_count.h"
#include "fuzz/ops_input.h"
#include "fuzz/schedules_target.h"
#include "zoo/host_call.h"
#include "zoo/race.h"

namespace hvtlb::fuzz {
namespace {

Finding run_guest(const zoo::Entry& entry, std::span<const u8> bytes) {
  static const zoo::Pair pair = zoo::pair_of(entry);  // one entry a process
  OpsInput input = read_ops_input(bytes);
  input.shape.hyperv = pair.shape.hyperv;
  const zoo::Seen variant = zoo::look(input.shape, pair.faulty, pair.corrected, input.ops);
  input.shape.hyperv = pair.shape.hyperv && !pair.twin_native;
  const zoo::Seen twin = zoo::look(input.shape, pair.corrected, pair.corrected, input.ops);
  op_count.done += 2 * input.ops.size();
  return zoo::fault_shows(entry.sign, variant, twin);
}

Finding run_host(const zoo::Entry& entry, std::span<const u8> bytes) {
  static const zoo::HostCall& call = zoo::host_call_of(entry);
  const DecodeInput input(bytes);
  const auto react = [&](const host::Faults& faults) {
    return host::decode(call.profile, input.control(), input.input(), input.vps(), kVpInvalid,
                        faults);
  };
  const std::string shown = zoo::difference(react(call.faults), react({}), input.vps());
  return shown.empty() ? Finding{} : Finding{shown};
}

Finding run_race(const zoo::Entry& entry, std::span<const u8> bytes) {
  static const explore::LitmusFile file = zoo::race_of(entry);
  const explore::ScheduleRun run =
      run_schedule_under(bytes, file.litmus.rules, [](explore::Litmus& litmus) {
        litmus.machine.hyperv = file.litmus.machine.hyperv;
        litmus.host_scope = file.litmus.host_scope;
        litmus.host_returns_early = file.litmus.host_returns_early;
      });
  if (!run.violation || name_of(run.violation->property) != zoo::name_of(entry.sign))
    return std::nullopt;
  return explore::fault_of(run);
}

Finding run_entry(const zoo::Entry& entry, std::span<const u8> bytes) {
  switch (entry.kind) {
    case zoo::Kind::kHost: return run_host(entry, bytes);
    case zoo::Kind::kRace: return run_race(entry, bytes);
    default: return run_guest(entry, bytes);
  }
}

}  // namespace

Finding run_zoo(const zoo::Entry& entry, std::span<const u8> bytes) {
  const Finding shown = run_entry(entry, bytes);
  return shown ? fmt::format("{}: {}", entry.id, *shown) : Finding{};
}

}  // namespace hvtlb::fuzz
