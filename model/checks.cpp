#include "model/checks.h"

#include <fmt/format.h>

#include "model/switch_mm.h"

namespace hvtlb {

std::string_view name_of(Property property) {
  static constexpr std::string_view kNames[] = {"",   "P1", "P2", "P3",   "P4",  "P5",
                                                "P6", "P7", "P8", "lazy", "irq", "cr3"};
  return kNames[static_cast<unsigned>(property)];
}

std::string_view meaning_of(Property property) {
  static constexpr std::string_view kMeanings[] = {
      "",
      "no missed flush",
      "no walk of a freed table",
      "generation honesty",
      "membership",
      "precision",
      "convergence",
      "wire",
      "completion",
      "a borrowed mm is marked",
      "the interrupt flag is restored",
      "CR3 has the mm's bits",
  };
  return kMeanings[static_cast<unsigned>(property)];
}

std::string to_string(const Violation& v) {
  const bool about_page = v.property <= Property::kP3;
  return fmt::format("{} ({}): CPU {}, mm {}{}: {}", name_of(v.property), meaning_of(v.property),
                     v.cpu, v.mm, about_page ? fmt::format(", page {:#x}", v.va & kPageMask) : "",
                     v.why);
}

Violation read_behind_of(Cpu cpu, const char* array) {
  return {Property::kP7, cpu, kInitMm, 0, fmt::format("{} is read behind its end", array)};
}

std::optional<Violation> check_p1(const Guest&, const Truth& truth, Cpu cpu) {
  const auto va = truth.usable_stale_page(cpu);
  if (!va) return std::nullopt;
  return Violation{Property::kP1, cpu, truth.uses(cpu), *va,
                   "a flush of this page has returned, and the CPU can still use an older "
                   "translation"};
}

std::optional<Violation> check_p2(const Guest& guest, const Truth& truth, Cpu cpu) {
  const auto va = truth.walkable_freed_table(cpu);
  if (!va) return std::nullopt;
  const u64 loaded = guest.cpu_tlbstate_shared[cpu].loaded_mm;
  return Violation{Property::kP2, cpu, loaded == kLoadedMmSwitching ? kInitMm : MmId(loaded), *va,
                   "a freed-tables flush has returned, and the CPU can still walk the freed table"};
}

std::optional<Violation> check_p3(const Guest& guest, const Truth& truth, Cpu cpu) {
  const u64 loaded = guest.cpu_tlbstate_shared[cpu].loaded_mm;
  const CpuTlbState& tlb = guest.cpu_tlbstate[cpu];
  if (loaded == kInitMm || loaded == kLoadedMmSwitching || is_global_asid(tlb.loaded_mm_asid))
    return std::nullopt;
  const MmId mm = static_cast<MmId>(loaded);
  const u64 tlb_gen = tlb.ctxs[tlb.loaded_mm_asid].tlb_gen;
  if (tlb_gen > guest.mm(mm).tlb_gen)
    return Violation{
        Property::kP3, cpu, mm, 0,
        fmt::format("the slot's generation {} exceeds the mm's {}", tlb_gen, guest.mm(mm).tlb_gen)};
  const u64 pcid = guest.pcid ? kern_pcid(tlb.loaded_mm_asid) : 0;
  if (const auto va = truth.behind_generation(cpu, pcid, mm, tlb_gen))
    return Violation{Property::kP3, cpu, mm, *va,
                     fmt::format("the slot says generation {}, the cache holds older", tlb_gen)};
  return std::nullopt;
}

std::optional<Violation> check_lazy(const Guest& guest, const Truth& truth, Cpu cpu) {
  const CpuTlbStateShared& shared = guest.cpu_tlbstate_shared[cpu];
  if (shared.is_lazy != 0 || shared.loaded_mm == kInitMm || truth.uses(cpu) != kInitMm)
    return std::nullopt;
  return Violation{Property::kLazy, cpu, static_cast<MmId>(shared.loaded_mm), 0,
                   "no user of the mm runs here, and the CPU is not marked lazy"};
}

std::optional<Violation> check_cr3(const Guest& guest, const Truth& truth, Cpu cpu) {
  const MmId mm = truth.uses(cpu);
  if (mm == kInitMm || !truth.selects(cpu, mm)) return std::nullopt;
  if (truth.lam_bits(cpu) == guest.mm(mm).lam_cr3_mask) return std::nullopt;
  return Violation{Property::kCr3, cpu, mm, 0,
                   fmt::format("CR3 has the LAM bits {:#x}, the mm {:#x}", truth.lam_bits(cpu),
                               guest.mm(mm).lam_cr3_mask)};
}

std::optional<Violation> check_p4(const Guest& guest, const Truth&, Cpu cpu) {
  const u64 loaded = guest.cpu_tlbstate_shared[cpu].loaded_mm;
  if (loaded == kInitMm || loaded == kLoadedMmSwitching) return std::nullopt;
  const MmId mm = static_cast<MmId>(loaded);
  if (guest.mm(mm).temporary || guest.in_cpumask(mm, cpu)) return std::nullopt;
  return Violation{Property::kP4, cpu, mm, 0, "the CPU has the mm loaded and is not in its mask"};
}

}  // namespace hvtlb
