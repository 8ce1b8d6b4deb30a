// The machine of a scenario: CPUs, VP numbering, and what the CPUs and the host can do.
#include <algorithm>

#include "scenario/read_parts.h"

namespace hvtlb {
namespace {

CpuMask cpus_of(const YAML::Node& node, u32 nr_cpus, const Source& source) {
  CpuMask mask(nr_cpus);
  if (!node.IsScalar()) refuse(node, "CPUs");
  for (const auto& [first, last] : source.parse(node, parse_cpu_list)) {
    if (last >= nr_cpus) refuse(node, fmt::format("CPUs below {}", nr_cpus));
    for (Cpu cpu = first; cpu <= last; ++cpu) mask.set(cpu);
  }
  return mask;
}

void read_vp(const YAML::Node& node, VpNumbering& vp) {
  constexpr u64 kMostVps = u64{64} * 64;
  if (node.IsScalar()) {
    if (node.Scalar() != "identity") refuse(node, "identity, {offset: N, stride: N} or a list");
    return;
  }
  if (node.IsSequence()) {
    vp.kind = VpNumbering::Kind::kList;
    for (const YAML::Node& each : node)
      vp.list.push_back(each.IsScalar() && (each.Scalar() == "-1" || each.Scalar() == "invalid")
                            ? kVpInvalid
                            : static_cast<u32>(number_of(each, 0, kMostVps - 1, "a VP index")));
    return;
  }
  for_each_key(node, "identity, {offset: N, stride: N} or a list",
               [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
                 if (key == "offset")
                   vp.offset = static_cast<u32>(number_of(value, 0, kMostVps - 1, "an offset"));
                 else if (key == "stride")
                   vp.stride = static_cast<u32>(number_of(value, 1, kMostVps - 1, "a stride"));
                 else
                   unknown_key(at, "offset, stride");
               });
}

/// Gives every CPU its VP index. VP indices must differ and fit 64 banks of 64.
void number_vps(const YAML::Node& at, Scenario& scenario) {
  MachineShape& machine = scenario.machine;
  const VpNumbering& vp = scenario.vp;
  if (vp.kind == VpNumbering::Kind::kList) {
    if (vp.list.size() != machine.nr_cpus)
      throw StepTextError{mark_of(at),
                          fmt::format("found {} VP ind{}, expected {}, one a CPU", vp.list.size(),
                                      vp.list.size() == 1 ? "ex" : "ices", machine.nr_cpus)};
    machine.vp_index = vp.list;
  } else {
    const u64 last = vp.offset + u64{vp.stride} * (machine.nr_cpus - 1);
    if (last >= u64{64} * 64)
      throw StepTextError{mark_of(at), fmt::format("found VP index {} for the last of {} CPUs, "
                                                   "expected at most 4095",
                                                   last, machine.nr_cpus)};
    machine.vp_index.clear();
    for (Cpu cpu = 0; cpu < machine.nr_cpus; ++cpu)
      machine.vp_index.push_back(vp.offset + vp.stride * cpu);
  }
  std::set<u32> seen;
  for (u32 index : machine.vp_index)
    if (index != kVpInvalid && !seen.insert(index).second)
      throw StepTextError{mark_of(at), fmt::format("found VP index {} twice", index)};
}

constexpr std::string_view kMachineKeys =
    "cpus, present, vp, hv_max_vp_index, hz, jiffies, pcid, lam, invlpgb, pti, path, ex_hint, host";

/// The kernel's own is the highest index of all CPUs. A lower one would leave banks of an earlier
/// call in the set.
void check_max_vp_index(const YAML::Node& at, const MachineShape& machine) {
  u32 highest = 0;
  for (const u32 index : machine.vp_index)
    if (index != kVpInvalid) highest = std::max(highest, index);
  if (*machine.hv_max_vp_index < highest)
    refuse(at, fmt::format("at least {}, the highest VP index of a CPU", highest));
}

}  // namespace

void read_machine(const YAML::Node& node, Scenario& scenario, std::optional<u64> cpus,
                  const Source& source) {
  MachineShape& machine = scenario.machine;
  YAML::Node present;
  YAML::Node max_vp_at;
  YAML::Node vp_at = node;
  bool has_cpus = false;
  for_each_key(
      node, "the machine",
      [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
        if (key == "cpus") {
          machine.nr_cpus = static_cast<u32>(number_of(value, 1, kMaxCpus, "a number of CPUs"));
          has_cpus = true;
        } else if (key == "present") {
          present.reset(value);
        } else if (key == "vp") {
          read_vp(value, scenario.vp);
          vp_at.reset(value);
        } else if (key == "hv_max_vp_index") {
          machine.hv_max_vp_index = static_cast<u32>(number_of(value, 0, 65535, "a VP index"));
          max_vp_at.reset(value);
        } else if (key == "hz") {
          machine.hz = number_of(value, 1, 1'000'000, "ticks a second");
        } else if (key == "jiffies") {
          machine.jiffies = number_of(value, 0, ~u64{0} >> 2, "jiffies");
        } else if (key == "pcid") {
          machine.pcid = flag_of(value);
        } else if (key == "invlpgb") {
          machine.invlpgb = flag_of(value);
        } else if (key == "lam") {
          machine.lam = flag_of(value);
        } else if (key == "pti") {
          machine.pti = flag_of(value);
        } else if (key == "path") {
          const std::string path = text_of(value, "hyperv or native");
          if (path != "hyperv" && path != "native") refuse(value, "hyperv or native");
          machine.hyperv = path == "hyperv";
        } else if (key == "host") {
          const auto profile = host::find_profile(text_of(value, "a host"));
          if (!profile) refuse(value, "one of tlfs, kvm, openhcl, xen");
          scenario.host = *profile;
        } else if (key == "ex_hint") {
          machine.ex_processor_masks_recommended = flag_of(value);
        } else {
          unknown_key(at, kMachineKeys);
        }
      });
  if (cpus)
    machine.nr_cpus = static_cast<u32>(*cpus);
  else if (!has_cpus)
    refuse(node, "a machine with the key cpus");
  if (present.IsDefined() && !present.IsNull())
    machine.present = cpus_of(present, machine.nr_cpus, source);
  number_vps(vp_at, scenario);
  if (machine.hv_max_vp_index) check_max_vp_index(max_vp_at, machine);
}

}  // namespace hvtlb
