// The guest of a litmus, to be explored: the model's own routines on the exploring policy.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "explore/guest_policy.h"
#include "explore/litmus.h"
#include "flush/named_targets.h"
#include "flush/tlbbatch.h"

namespace hvtlb::explore {

class GuestSystem final : public System, private Symmetry {
 public:
  /// REQUIRES: the operations of `before` are accepted, those of the programs are explorable.
  explicit GuestSystem(const Litmus& litmus);

  u32 nr_cpus() const override { return guest_.nr_cpus; }
  void attach(Engine& engine) override;
  void reset() override;
  bool stops_machine() const override { return stops_machine_; }
  void run(Cpu cpu) override;
  void arrived(Cpu cpu, u32 note) override;
  void host_effect(Cpu cpu, Cpu caller) override { policy_.effect(cpu, caller); }
  std::string effect_text(Cpu cpu, Cpu caller) const override {
    return policy_.effect_text(cpu, caller);
  }
  const Symmetry* symmetry() const override { return this; }
  void append_state(std::vector<u64>& state) const override { append_state_in({}, state); }
  std::optional<Violation> check(u32 settled) const override;
  std::string name_of(const u64* word) const override;
  std::string show(const u64* word, u64 value) const override;
  std::string show_cr3(u64 cr3) const override;
  Measured take_measured() override { return std::exchange(policy_.measured, {}); }
  std::string take_events() override;
  /// From now on take_events() has something to say.
  void note_events() { policy_.events = &events_; }

 private:
  // Symmetry: of CPUs with equal programs, when all that is left of these treats all CPUs alike
  std::span<const CpuOrder> orders() const override { return orders_; }
  bool holds_from_here() const override;
  void append_state_in(const CpuOrder& order, std::vector<u64>& state) const override;
  const u64* renamed(const CpuOrder& order, const u64* word) const override;
  u64 renamed(const CpuOrder& order, const u64* word, u64 value) const override;
  void find_orders();

  void perform(Cpu cpu, const Op& op, u32 note);
  /// What is left of its program from the operation `at` on.
  std::span<const Op> ahead_of(Cpu cpu, std::size_t at) const {
    const std::vector<Op>& program = litmus_.programs[cpu];
    return std::span(program).subspan(std::min(at, program.size()));
  }
  u64 left_behind(Cpu cpu, std::size_t at) const;
  void change_page_table(Cpu cpu, u32 note);
  std::string name_of_mm(u64 id) const;

  const Litmus& litmus_;
  Guest initial_guest_;
  Truth initial_truth_;
  Guest guest_;
  Truth truth_;
  NamedTargetsHost host_;
  GuestPolicy policy_;
  Kernel<GuestPolicy> kernel_;
  Engine* engine_ = nullptr;
  bool stops_machine_ = false;
  u32 enables_lam_ = 0;                       // CPUs that are inside enable_lam()
  std::vector<TlbBatch> batches_;             // by CPU
  std::vector<MmId> used_before_;             // by CPU: whom it uses again after a temporary mm
  std::vector<std::size_t> operation_;        // by CPU: where its program stands
  std::vector<std::vector<u64>> page_table_;  // by CPU and operation: the entry that it changes
  std::vector<CpuOrder> orders_;
  std::map<const u64*, std::string> names_;
  std::map<const u64*, bool> holds_mm_;
  std::string events_;
};

}  // namespace hvtlb::explore
