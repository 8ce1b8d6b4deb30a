// The history of the subsystem: every era a row of rule fields.
#pragma once

#include <span>
#include <string_view>

#include "model/checks.h"
#include "model/rules.h"

namespace hvtlb {

/// A property that an era is known to break, by exactly this trigger, and nowhere else.
struct KnownFault {
  std::string_view property;  ///< `P1` .. `P8`
  std::string_view zoo;       ///< the entry of the bug zoo, for example `Z14`
  std::string_view trigger;   ///< what makes it happen
  bool interleaving;          ///< it needs concurrency: a sequential run cannot show it
};

struct Era {
  std::string_view name;
  std::string_view kernels;  ///< the releases that behave so
  Rules rules;
  std::span<const KnownFault> known_faults;
};

/// All eras, oldest first, the fix under review last.
std::span<const Era> eras();

/// The era of that name, or null.
const Era* find_era(std::string_view name);

/// The names of all eras, separated by spaces: for messages.
std::string era_names();

/// The known fault that explains a violation in a sequential run, or null: then the violation is a
/// finding. `empty_set_sent`: an EX call without banks was made for the mm (Z14's trigger).
const KnownFault* known_fault_of(const Era& era, bool empty_set_sent, const Violation& violation);

/// The newest era before the fix, and the fix: what `hvtlb compare` shows side by side.
inline constexpr std::string_view kEraBeforeFix = "v6.17.5";
inline constexpr std::string_view kEraWithFix = "filtered";

}  // namespace hvtlb
