#include "fuzz/zoo_target.h"

#include <fmt/format.h>

#include "fuzz/decode_input.h"
#include "fuzz/op_count.h"
#include "fuzz/ops_input.h"
#include "zoo/host_call.h"

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

}  // namespace

Finding run_zoo(const zoo::Entry& entry, std::span<const u8> bytes) {
  const Finding shown =
      entry.kind == zoo::Kind::kHost ? run_host(entry, bytes) : run_guest(entry, bytes);
  return shown ? fmt::format("{}: {}", entry.id, *shown) : Finding{};
}

}  // namespace hvtlb::fuzz
