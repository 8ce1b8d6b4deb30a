// What every guest routine is given: the guest's memory, the rules of its era, and the policy that
// runs its accesses.
#pragma once

#include "model/guest.h"
#include "model/policy.h"
#include "model/rules.h"

namespace hvtlb {

template <class P>
struct Kernel {
  Guest& guest;
  const Rules& rules;
  P& mem;
};

/// Interrupts are off while this lives (`local_irq_save` .. `local_irq_restore`).
template <MemoryPolicy P>
class IrqsOff {
 public:
  IrqsOff(P& mem, Cpu cpu) : mem_(mem), cpu_(cpu) { mem_.irq_save(cpu_); }
  ~IrqsOff() { mem_.irq_restore(cpu_); }
  IrqsOff(const IrqsOff&) = delete;
  IrqsOff& operator=(const IrqsOff&) = delete;

 private:
  P& mem_;
  Cpu cpu_;
};

}  // namespace hvtlb
