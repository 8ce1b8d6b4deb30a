// Runs a system one action at a time, in any order that the memory model and the interrupt flags
// allow.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "explore/cpu_order.h"
#include "explore/fiber.h"
#include "explore/memory_model.h"
#include "explore/step.h"
#include "explore/symmetry.h"
#include "explore/system.h"

namespace hvtlb::explore {

/// 128 bits of a state. Of n states two share their hash with a probability below n^2 / 2^129.
struct StateHash {
  u64 low = 0;
  u64 high = 0;
  auto operator<=>(const StateHash&) const = default;
};

/// A state under the names of its CPUs that stand for all others that make no difference.
struct CanonicalState {
  StateHash hash;
  CpuOrder order;
};

/// Which states count as one beyond those that are equal in every word.
struct Merging {
  bool forgets = false;   ///< what a routine has read and will not look at again does not count
  bool symmetry = false;  ///< nor does which CPU is which, where that makes no difference
};

class Engine {
 public:
  /// REQUIRES: 1 to kMaxExploredCpus CPUs. `system` must outlive the engine, which is the only one
  /// of it while it lives.
  Engine(System& system, MemoryModel model, Merging merging = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The initial state.
  void reset();
  /// The actions that are possible now, as a set of numbers. None: all programs have ended, or
  /// they wait for each other.
  u64 enabled() const;
  /// REQUIRES: it is enabled.
  void perform(Action action);
  /// The same for a whole schedule, from the initial state.
  void replay(std::span<const Action> schedule);

  /// Whether every program has ended and every store has arrived.
  bool finished() const;
  /// What the CPU does next. REQUIRES: run(cpu) is an action of it.
  const CpuStep& next_step(Cpu cpu) const { return cpus_[cpu].next[cpus_[cpu].handling]; }
  bool runnable(Cpu cpu) const { return !cpus_[cpu].ended || cpus_[cpu].handling; }
  bool handling(Cpu cpu) const { return cpus_[cpu].handling; }
  /// Whether the CPU is between two operations.
  bool between_operations(Cpu cpu) const { return cpus_[cpu].between_operations; }
  bool stops_machine() const { return system_.stops_machine(); }
  bool has_irqs_off(Cpu cpu) const { return cpus_[cpu].irqs_off != 0; }
  const SharedMemory& memory() const { return memory_; }
  u32 settled() const;
  StateHash hash() const { return canonical().hash; }
  CanonicalState canonical() const;
  /// Of the state with everything that routines have read, CPUs as they are.
  StateHash unmerged_hash() const { return hash_in({}, false); }
  /// Of the system, if it counts.
  const Symmetry* symmetry() const { return symmetry_; }

  // For programs, inside their fibers
  u64 load(Cpu cpu, const u64& word, Site site);
  /// A step whose outcome is the system's affair: below `step.outcomes`, and not yet part of what
  /// the routine has read. Without effect on the words.
  u32 choose(Cpu cpu, const CpuStep& step);
  /// What the routine does from here on depends on `value`.
  void note(Cpu cpu, u64 value);
  /// What the routine has read so far, as one number.
  u64 knowledge(Cpu cpu) const { return cpus_[cpu].history[cpus_[cpu].handling].counts; }
  /// Of all that the routine has read since its knowledge was `before`, what it does from here on
  /// depends on `value` alone; `here` differs from every line and every other place of its kind.
  void knows_since(Cpu cpu, u64 before, u64 here, u64 value);
  void store(Cpu cpu, u64& word, u64 value, Site site, u32 note = 0);
  u64 locked(Cpu cpu, u64& word, RmwOp op, u64 value, Site site);
  u64 cmpxchg(Cpu cpu, u64& word, u64 expected, u64 value, Site site);
  /// Returns what it reads when that is not `value` any more.
  u64 wait_while(Cpu cpu, const u64& word, u64 value, Site site);
  /// A step without an access.
  void step(Cpu cpu, StepKind kind, Site site, u64 value = 0);
  void irqs_off(Cpu cpu, Site site);
  void irqs_on(Cpu cpu, Site site);
  /// Asks every CPU of `targets` to run `handler`, and then does `self`'s own part and waits for
  /// theirs.
  void send_ipis(Cpu self, u32 targets, const std::function<void(Cpu)>& handler, Site site);
  void await_ipis(Cpu self, u32 targets, const std::function<void(Cpu)>& handler, Site site);
  /// Waits until the call has taken effect on every CPU of `targets`; with `early`, not at all.
  void await_host(Cpu caller, u32 targets, bool early, Site site);
  /// What this CPU has asked for takes effect on every CPU of `targets` at some moment.
  void begin_effects(Cpu caller, u32 targets);
  /// The CPU is between two operations. Its locals are gone: what it does from here on depends on
  /// `value` and on memory.
  void forget(Cpu cpu, u64 value);
  /// Whether this execution is being left: nothing that is done now counts.
  bool leaving() const { return leaving_; }

 private:
  /// What a routine has read since it knew nothing, as numbers: as far as it counts, and all of it.
  struct History {
    u64 counts = 0x5851f42d4c957f2d;  // not 0, which 0 mixed in would leave as it is
    u64 all = counts;
    u64 of(bool merged) const { return merged ? counts : all; }
  };

  struct CpuState {
    std::unique_ptr<Fiber> fibers[2];  // the program's, the handler's
    CpuStep next[2];
    History history[2];
    int line_before;  // where the last step of the program stands
    bool handling;
    bool between_operations;
    bool ended;
    u32 irqs_off;
    u32 outcome;  // of the step that is being taken
    Cpu handles_for;
    u32 ipis_from;  // senders whose IPI has not been taken
    // As a sender
    std::function<void(Cpu)> handler;
    u32 unanswered;
    // As a caller
    u32 effects;
    bool returns_early;
  };

  void take(Cpu cpu, const CpuStep& step);
  void begin_step(Cpu cpu, const CpuStep& step);
  void resume(Cpu cpu);
  void begin_handler(Cpu cpu, Cpu sender);
  void end_handler(Cpu cpu);
  bool can_run(Cpu cpu) const;
  bool others_rest(Cpu cpu) const;
  StateHash hash_in(const CpuOrder& order, bool merged) const;
  void leave();
  u32 explored() const { return (1u << nr_cpus_) - 1; }

  System& system_;
  const Merging merging_;
  const Symmetry* const symmetry_;
  SharedMemory memory_;
  u32 nr_cpus_;
  std::array<CpuState, kMaxExploredCpus> cpus_{};
  bool leaving_ = false;
  std::span<const Action> script_;  // what is still to be replayed
  mutable std::vector<u64> state_;  // scratch of hash_in()
};

}  // namespace hvtlb::explore
