#include "fuzz/roundtrip_intent.h"

namespace hvtlb::fuzz {
namespace {

constexpr u32 kPlainVps = 64;

/// The native predicate of the era.
bool natively(const Guest& guest, const Rules& rules, Cpu cpu, const FlushTlbInfo& info,
              bool trim) {
  const auto& [loaded_mm, is_lazy] = guest.cpu_tlbstate_shared[cpu];
  if (info.freed_tables) return true;
  if (is_lazy != 0) return false;
  if (!rules.predicate_loaded_mm || !info.has_mm || trim || loaded_mm == info.mm) return true;
  return rules.predicate_switching && loaded_mm == kLoadedMmSwitching;
}

bool is_named(const Guest& guest, const Rules& rules, Cpu cpu, const FlushTlbInfo& info) {
  if (info.freed_tables || rules.hv_targets == HypervTargets::kWholeMask) return true;
  if (rules.hv_targets == HypervTargets::kNotLazy)
    return guest.cpu_tlbstate_shared[cpu].is_lazy == 0;
  return natively(guest, rules, cpu, info, info.trim_cpumask);
}

}  // namespace

Intent::Intent(const Guest& guest, const Rules& rules, const FlushTlbInfo& info, MmId mask_of) {
  const CpuSet mask = set_of(guest.mm(mask_of).cpumask);
  const bool fixed = rules.hv_targets == HypervTargets::kNativePredicate;
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu)
    if (mask[cpu] && is_named(guest, rules, cpu, info)) named.set(cpu);
  CpuSet remote = named;
  remote.reset(info.initiating_cpu);
  native_trim = info.trim_cpumask;
  if (fixed && info.trim_cpumask) trims = true;
  if (fixed && !info.trim_cpumask && !info.freed_tables && remote.none()) {
    trims = true;
    native_trim = info.has_mm;
  }
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu)
    if (mask[cpu] && guest.online(cpu) && natively(guest, rules, cpu, info, native_trim))
      native.set(cpu);
  const CpuSet present = set_of(guest.cpu_present_mask);
  const CpuSet& format_from = fixed ? named : mask;
  if (format_from == present) {
    named = present;
    return;
  }
  u32 last_vp = 0;
  bool ex = false;
  for (Cpu cpu = 0; cpu < guest.nr_cpus; ++cpu) {
    const u32 vp = guest.vp_index[cpu];
    if (format_from.test(cpu)) last_vp = vp;  // of the last member, lazy or not
    if (!named.test(cpu)) continue;
    cannot_name |= vp == kVpInvalid;
    ex |= vp != kVpInvalid && vp >= kPlainVps;
  }
  ex |= last_vp != kVpInvalid && last_vp >= kPlainVps;
  cannot_name |= ex && !guest.ex_processor_masks_recommended;
}

}  // namespace hvtlb::fuzz
