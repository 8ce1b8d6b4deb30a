// The table of eras. Each row starts from an earlier one and names what changed, so that the file
// reads as the subsystem's history. Sources: arch/x86/mm/tlb.c and arch/x86/hyperv/mmu.c of the
// releases named; commits 493cc07385cf, 209954cbc7d0, 6db2526c1d69, fea4e317f9e7, 83b0177a6c48.
#include "model/eras.h"

#include <array>

namespace hvtlb {
namespace {

// The builder's latent faults, in every era that has the set builder of include/asm-generic.
constexpr KnownFault kZ14{"P1", "Z14",
                          "hv_max_vp_index >= 4096 and an EX call: the set is empty, a host that "
                          "answers success flushes nobody",
                          false};
constexpr KnownFault kZ14Tables{"P2", "Z14", "the same, and page tables were freed", false};
constexpr KnownFault kZ14Wire{"P7", "Z14", "the same, seen in the bytes", false};
constexpr KnownFault kZ15{"P7", "Z15",
                          "a range of exactly as many 16 MiB units as the list holds and a rest: "
                          "one entry more than the page holds",
                          false};
constexpr KnownFault kZ41{"P2", "Z41",
                          "a freed-tables flush between the LOCKed clear of prev's bit and the "
                          "CR3 write; tables freed without RCU",
                          true};
constexpr KnownFault kZ01{"P1", "Z01",
                          "native path: a CPU that has read the generation and is still switching "
                          "is not seen",
                          true};
constexpr KnownFault kZ02{"P1", "Z02",
                          "native path: the SWITCHING marker is stored after the generation is "
                          "read",
                          true};
constexpr KnownFault kZ03{"P1", "Z03",
                          "native path, x86-TSO: no fence between the marker and the generation "
                          "when the bit is already set",
                          true};
constexpr KnownFault kZ04{"P1", "Z04",
                          "Hyper-V, x86-TSO: is_lazy := false is still buffered when the "
                          "generation is read and the bit is already set",
                          true};
constexpr KnownFault kZ06{
    "P6", "Z06", "Hyper-V: no handler runs, so no bit of mm_cpumask is ever trimmed", false};

constexpr KnownFault kZ25a{
    "lazy", "Z25a",
    "CPUs with INVLPGB: the handler on a lazy CPU moves it to the mm's global "
    "ASID by a switch, which ends laziness",
    false};

constexpr std::array kEager{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ41};
constexpr std::array kEagerWindow{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ41, kZ01};
constexpr std::array kEagerLateMarker{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ41, kZ02};
constexpr std::array kLazyWindow{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ01, kZ04, kZ06};
constexpr std::array kLazyLateMarker{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ02, kZ04, kZ06};
constexpr std::array kLazyNoFence{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ03, kZ04, kZ06, kZ25a};
constexpr std::array kLazyFenced{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ06, kZ25a};
constexpr std::array kFiltered{kZ14, kZ14Tables, kZ14Wire, kZ15, kZ25a};

constexpr Rules v6_1() {
  return {};
}

constexpr Rules v6_4() {
  Rules r = v6_1();
  r.hv_targets = HypervTargets::kNotLazy;
  return r;
}

// Back-ports of 6db2526c1d69 without lazy upkeep: the predicate looks at loaded_mm, the trim flag
// has nothing to remove.
constexpr Rules v6_1_129() {
  Rules r = v6_1();
  r.predicate_loaded_mm = true;
  r.sender_asks_trim = true;
  return r;
}

constexpr Rules v6_12_29() {
  Rules r = v6_1_129();
  r.hv_targets = HypervTargets::kNotLazy;
  r.predicate_switching = true;
  return r;
}

constexpr Rules v6_12_117() {
  Rules r = v6_12_29();
  r.switching_marker = SwitchingMarker::kBeforeBits;
  return r;
}

constexpr Rules v6_1_192() {
  Rules r = v6_12_117();
  r.hv_targets = HypervTargets::kWholeMask;
  return r;
}

// Lazy upkeep of mm_cpumask (209954cbc7d0, 953753db887f, 6db2526c1d69).
constexpr Rules v6_14() {
  Rules r = v6_4();
  r.next_bit = NextBit::kSetIfClear;
  r.prev_bit = PrevBit::kLeftBehind;
  r.same_mm_repairs_bit = false;
  r.predicate_loaded_mm = true;
  r.sender_asks_trim = true;
  r.handler_foreign_mm = ForeignMm::kClearsOwnBit;
  r.unuse_clears_bit = true;
  return r;
}

constexpr Rules v6_14_7() {
  Rules r = v6_14();
  r.predicate_switching = true;
  return r;
}

constexpr Rules v6_15() {
  Rules r = v6_14_7();
  r.switching_marker = SwitchingMarker::kBeforeBits;
  r.global_asid = true;
  return r;
}

constexpr Rules v6_17_5() {
  Rules r = v6_15();
  r.fence_if_bit_set = true;
  return r;
}

constexpr Rules filtered() {
  Rules r = v6_17_5();
  r.hv_targets = HypervTargets::kNativePredicate;
  r.hv_format_from = HypervFormatFrom::kTargets;
  r.hv_trim_round_native = true;
  r.hv_immediate_trim = true;
  return r;
}

constexpr std::array kEras{
    Era{"v6.1", "to v6.3", v6_1(), kEager},
    Era{"v6.4", "v6.4 to v6.13, 6.12.0 to 6.12.15", v6_4(), kEager},
    Era{"v6.1.129", "6.1.129 to 6.1.138, 5.15.179 to 182, 6.6.79+, 6.12.16 to 28", v6_1_129(),
        kEagerWindow},
    Era{"v6.12.29", "6.12.29 to 6.12.96, 6.1.139 to 191 at most, 5.15.183+, 6.6.91+", v6_12_29(),
        kEagerLateMarker},
    Era{"v6.12.117", "Debian's 6.12", v6_12_117(), kEager},
    Era{"v6.1.192", "Debian's 6.1", v6_1_192(), kEager},
    Era{"v6.14", "v6.14.0 to v6.14.6", v6_14(), kLazyWindow},
    Era{"v6.14.7", "v6.14.7+", v6_14_7(), kLazyLateMarker},
    Era{"v6.15", "v6.15 to v6.17.4", v6_15(), kLazyNoFence},
    Era{"v6.17.5", "v6.17.5 to the fix", v6_17_5(), kLazyFenced},
    Era{"filtered", "the fix under review", filtered(), kFiltered},
};

}  // namespace

std::span<const Era> eras() {
  return kEras;
}

const Era* find_era(std::string_view name) {
  for (const Era& era : kEras)
    if (era.name == name) return &era;
  return nullptr;
}

const KnownFault* known_fault_of(const Era& era, bool empty_set_sent, const Violation& violation) {
  // A CPU that needs a flush and is not reached (P5) is P1 before somebody looks.
  const Property property =
      violation.property == Property::kP5 ? Property::kP1 : violation.property;
  const bool too_long = violation.property == Property::kP7 && violation.va == kInputPageBytes;
  for (const KnownFault& fault : era.known_faults) {
    if (fault.property != name_of(property)) continue;
    if (fault.zoo == kZ14.zoo && empty_set_sent) return &fault;
    if (fault.zoo == kZ15.zoo && too_long) return &fault;
  }
  return nullptr;
}

std::string era_names() {
  std::string names;
  for (const Era& era : kEras) {
    if (!names.empty()) names += ' ';
    names += era.name;
  }
  return names;
}

}  // namespace hvtlb
