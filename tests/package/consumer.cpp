// Runs one flush under the fix's rules and looks at what the model says.
#include "model/eras.h"
#include "scenario/machine.h"

int main() {
  using namespace hvtlb;
  Machine machine({.nr_cpus = 4}, find_era(kEraWithFix)->rules);
  machine.apply({.kind = OpKind::kNewMm});
  machine.apply({.kind = OpKind::kSwitchMm, .cpu = 1, .mm = 1});
  machine.apply({.kind = OpKind::kFlushMmRange, .cpu = 1, .mm = 1, .start = 0, .end = 4096});
  return machine.nr_violations() == 0 && machine.guest().mm(1).tlb_gen == 1 ? 0 : 1;
}
