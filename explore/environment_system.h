// The initiator, the target and their environment, to be explored.
#pragma once

#include <map>

#include "explore/environment_policy.h"
#include "explore/system.h"
#include "flush/named_targets.h"
#include "flush/tlbbatch.h"

namespace hvtlb::explore {

/// What further CPUs ask a CPU to do comes under numbers that no explored CPU has as a sender.
enum ForeignIpi : u32 {
  kNewGeneration = 2,  ///< a flush of the mm, of a generation made just now
  kWithoutMm = 3,      ///< the flush of a batch
};                     // and under its own number: a flush of the mm, of the newest generation

class EnvironmentSystem final : public System {
 public:
  explicit EnvironmentSystem(const EnvironmentCase& which);

  u32 nr_cpus() const override { return 2; }
  void attach(Engine& engine) override;
  void reset() override;
  void run(Cpu cpu) override;
  void arrived(Cpu cpu, u32 note) override;
  void host_effect(Cpu cpu, Cpu caller) override { policy_.effect(cpu, caller); }
  std::string effect_text(Cpu cpu, Cpu caller) const override {
    return policy_.effect_text(cpu, caller);
  }
  u32 foreign_ipis(Cpu cpu) const override;
  void handle_foreign(Cpu cpu, u32 number) override;
  std::string foreign_ipi_text(u32 number) const override;
  std::string outcome_text(Cpu cpu, const CpuStep& step, u32 outcome) const override;
  std::size_t most_buffered() const override { return which_.most_buffered; }
  bool reads_unnoted() const override { return true; }
  std::optional<u64> knowledge_of(Cpu cpu) const override;
  void append_state(std::vector<u64>& state) const override;
  std::optional<Violation> check(u32 settled) const override;
  std::string name_of(const u64* word) const override;
  std::string show(const u64* word, u64 value) const override;
  std::string show_cr3(u64 cr3) const override;
  std::string take_events() override { return std::exchange(events_, {}); }
  /// From now on take_events() has something to say.
  void note_events() { policy_.events = &events_; }

  /// Whether nobody but `cpu` itself ever writes the word; unless it is undisturbed now, neither do
  /// its handlers.
  bool is_private(Cpu cpu, const u64* word, bool undisturbed) const;
  /// Whether the CPU takes IPIs at all. What the initiator does when it is asked to flush concerns
  /// nobody but itself.
  bool takes_ipis(Cpu cpu) const { return (judged() >> cpu & 1) != 0; }

 private:
  void name_words();
  void live(Cpu cpu);
  void operate(Cpu cpu);
  void run_mm(Cpu cpu, MmId mm);
  void rest(Cpu cpu);
  void leave(Cpu cpu);
  void flush(Cpu cpu);
  /// The CPUs whose properties are judged. Where the initiator is not alone, what only its own TLB
  /// depends on is left out of the state.
  u32 judged() const { return policy_.judged_cpus; }
  bool initiator_is_done() const { return flush_ended_ && !which_.alone; }

  const EnvironmentCase which_;
  Guest initial_guest_;
  Truth initial_truth_;
  Guest guest_;
  Truth truth_;
  NamedTargetsHost host_;
  EnvironmentPolicy policy_;
  Kernel<EnvironmentPolicy> kernel_;
  Engine* engine_ = nullptr;
  TlbBatch batch_;
  u64 page_table_ = 0;
  bool flush_begun_ = false;
  bool flush_ended_ = false;
  std::map<const u64*, std::string> names_;
  std::string events_;
  mutable std::vector<u64> generations_;  // scratch of append_state()
};

}  // namespace hvtlb::explore
