// What is explored: a program for every CPU, and the state beyond the words they access.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explore/measured.h"
#include "explore/step.h"
#include "model/checks.h"
#include "model/types.h"

namespace hvtlb::explore {

class System {
 public:
  virtual ~System() = default;

  virtual u32 nr_cpus() const = 0;
  /// From now on the programs run on this engine.
  virtual void attach(class Engine& engine) = 0;
  /// Back to the initial state, in place: words keep their addresses.
  virtual void reset() = 0;
  /// Whether a program stops the machine: then it matters when the others begin an operation.
  virtual bool stops_machine() const { return false; }
  /// The program of a CPU, run in a fiber.
  virtual void run(Cpu cpu) = 0;
  /// The store of `cpu` with this note is now visible.
  virtual void arrived(Cpu cpu, u32 note) = 0;
  /// The hypercall that `caller` waits for takes effect on `cpu`.
  virtual void host_effect(Cpu cpu, Cpu caller) = 0;
  /// IPIs that `cpu` may take although none of the explored CPUs has sent them, as a set of numbers
  /// below kMaxExploredCpus that are no sender's: its own, or those of CPUs that are not explored.
  virtual u32 foreign_ipis(Cpu /*cpu*/) const { return 0; }
  /// The handler of one of them, run in a fiber.
  virtual void handle_foreign(Cpu /*cpu*/, u32 /*number*/) {}
  virtual std::string foreign_ipi_text(u32 /*number*/) const { return {}; }
  /// A step with several outcomes in words, before it happens.
  virtual std::string outcome_text(Cpu /*cpu*/, const CpuStep& /*step*/, u32 /*outcome*/) const {
    return {};
  }
  /// The same of a hypercall's effect.
  virtual std::string effect_text(Cpu /*cpu*/, Cpu caller) const {
    return "the host flushes its TLB for the call of CPU " + std::to_string(caller);
  }
  /// How many stores a CPU's buffer holds; with more to come a store waits.
  virtual std::size_t most_buffered() const { return ~std::size_t{0}; }
  /// Whether a routine may read what its history does not show: then the history alone does not say
  /// where it stands.
  virtual bool reads_unnoted() const { return false; }
  /// What the program of `cpu` will do depends, of all that it has read, on this alone and on where
  /// it stands. Nothing: on everything that it has read since it last forgot.
  virtual std::optional<u64> knowledge_of(Cpu /*cpu*/) const { return std::nullopt; }
  /// What it knows of its symmetry, if there is any.
  virtual const class Symmetry* symmetry() const { return nullptr; }
  /// Everything that decides what can happen from here on, but for what the engine knows.
  virtual void append_state(std::vector<u64>& state) const = 0;
  /// A property that does not hold in this state. `settled` has the CPUs with empty buffers.
  virtual std::optional<Violation> check(u32 settled) const = 0;
  /// What was measured since it was last asked.
  virtual Measured take_measured() { return {}; }
  /// What has happened beyond the steps since it was last asked: `flush returns`.
  virtual std::string take_events() { return {}; }
  /// A word and a value as a counterexample shows them.
  virtual std::string name_of(const u64* word) const = 0;
  virtual std::string show(const u64* word, u64 value) const = 0;
  virtual std::string show_cr3(u64 cr3) const { return std::to_string(cr3); }
};

}  // namespace hvtlb::explore
