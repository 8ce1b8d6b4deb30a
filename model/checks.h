// P1 to P4 as verdicts: what must hold of one CPU whenever it can run, and of all CPUs once a flush
// has returned.
#pragma once

#include <optional>
#include <string>

#include "model/guest.h"
#include "model/truth.h"

namespace hvtlb {

/// The properties of the specification that are verdicts.
enum class Property : u8 { kP1 = 1, kP2, kP3, kP4, kP5, kP6, kP7, kP8, kLazy, kIrq, kCr3 };

/// `P1` .. `P8`, `lazy`, `irq`, `cr3`.
std::string_view name_of(Property property);

/// What a property is about, in a few words.
std::string_view meaning_of(Property property);

/// Where a hypercall's input page ends.
inline constexpr u64 kInputPageBytes = 4096;

/// A broken property: a value, never an abort.
struct Violation {
  Property property;
  Cpu cpu = 0;
  MmId mm = kInitMm;
  u64 va = 0;  ///< the address concerned; the page is `va` without its low 12 bits. P7: the first
               ///< byte of the input that is outside of its page, or 0
  std::string why;
};

/// One line: property, CPU, mm, page and why.
std::string to_string(const Violation& violation);

/// P7, an array of the builder read behind its end.
Violation read_behind_of(Cpu cpu, const char* array);

/// P1: no missed flush. REQUIRES: `cpu` is online.
std::optional<Violation> check_p1(const Guest& guest, const Truth& truth, Cpu cpu);
/// P2: no walk of a freed table, lazy or not.
std::optional<Violation> check_p2(const Guest& guest, const Truth& truth, Cpu cpu);
/// P3: generation honesty of the loaded slot. Judged with interrupts on.
std::optional<Violation> check_p3(const Guest& guest, const Truth& truth, Cpu cpu);
/// P4: membership. Judged with interrupts on; temporary mms are exempt.
std::optional<Violation> check_p4(const Guest& guest, const Truth& truth, Cpu cpu);
/// A CPU without a user of its own is lazy or on `init_mm`: otherwise it counts as a user of an mm
/// that may be exiting (zoo Z20). Judged with interrupts on.
std::optional<Violation> check_lazy(const Guest& guest, const Truth& truth, Cpu cpu);
/// CR3 has the LAM bits of the mm whose code runs (zoo Z24). Judged with interrupts on.
std::optional<Violation> check_cr3(const Guest& guest, const Truth& truth, Cpu cpu);

}  // namespace hvtlb
