// Random machines and operations for the properties. The interesting numbers are common: 63, 64 and
// 65 VPs, scattered and unknown VP indices, few CPUs.
#pragma once

#include <rapidcheck.h>
#include <vector>

#include "model/eras.h"
#include "scenario/machine.h"

namespace hvtlb::proptest {

/// What a case is made of; prints itself when a property fails.
struct Case {
  std::size_t era = 0;
  MachineShape shape;
  u32 nr_mms = 2;  ///< the last one is only ever used as a temporary mm
  std::vector<Op> ops;

  const Era& rules_of() const { return eras()[era]; }
};

std::ostream& operator<<(std::ostream& out, const Case& c);

/// A machine of 1 to 130 CPUs under any era.
rc::Gen<Case> arbitrary_case();

/// The same with `era` and `hyperv` given.
rc::Gen<Case> arbitrary_case(std::size_t era, bool hyperv);

/// The index of an era in `eras()`.
std::size_t era_index(std::string_view name);

/// Makes the case's mms.
void make_mms(Machine& machine, const Case& c);

}  // namespace hvtlb::proptest
