#include "fuzz/ops_target.h"

#include <fmt/format.h>

#include "fuzz/op_count.h"
#include "model/eras.h"
#include "scenario/inspector.h"
#include "scenario/profile_host.h"

namespace hvtlb::fuzz {

Finding run_ops(std::span<const u8> bytes, HypercallHost* host) {
  const OpsInput input = read_ops_input(bytes);
  const Era& era = eras()[input.era];
  std::optional<ProfileHost> profile_host;
  if (input.host && host == nullptr)
    host = &profile_host.emplace(*input.host, existing_vps(input.shape));
  Machine machine(input.shape, era.rules, host);
  Inspector inspector(machine, era.rules, &era);
  for (const Op& op : input.ops) {
    machine.apply(op);  // a refused operation changes nothing
    ++op_count.done;
    if (inspector.nr_unexplained() != 0)
      return fmt::format("{} under {}", to_string(*inspector.first_unexplained()), era.name);
    const CpuTlbState& tlb = machine.guest().cpu_tlbstate[op.cpu];
    if (tlb.irqs_off != (tlb.temporary_mm_prev ? 1 : 0))
      return fmt::format("CPU {} has interrupts off {} deep", op.cpu, tlb.irqs_off);
  }
  return std::nullopt;
}

}  // namespace hvtlb::fuzz
