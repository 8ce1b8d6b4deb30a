// What happens at once in a schedule: which of the interesting meetings it has.
#pragma once

#include "explore/engine.h"
#include "proptest/classes.h"

namespace hvtlb::proptest {

class Overlap {
 public:
  explicit Overlap(u32 nr_cpus) : nr_cpus_(nr_cpus) {}

  /// An action is about to happen.
  void watch(const explore::Engine& engine, explore::Action action);
  void add_to(Classes& classes) const;

 private:
  u32 nr_cpus_;
  u32 inside_temporary_mm_ = 0;  // CPUs
  bool flush_and_switch_ = false;
  bool two_flushes_ = false;
  bool flush_and_temporary_ = false;
  bool ipi_inside_ = false;
  bool ipi_while_waiting_ = false;
  bool hypercall_in_flight_ = false;
  bool effect_in_switch_ = false;
  bool store_overtaken_ = false;
};

}  // namespace hvtlb::proptest
