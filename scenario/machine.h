// A whole machine that runs operations in sequence: guest, rules, hardware truth, host.
#pragma once

#include <optional>

#include "flush/named_targets.h"
#include "flush/tlbbatch.h"
#include "model/sequential.h"
#include "model/temporary_mm.h"
#include "scenario/op.h"

namespace hvtlb {

class Machine {
 public:
  /// `host` answers the hypercalls; null: a host that does what the input names. It must outlive
  /// the machine.
  explicit Machine(const MachineShape& shape, const Rules& rules, HypercallHost* host = nullptr);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs one operation and judges P1 to P4. A refused operation changes nothing.
  OpError apply(const Op& op);

  /// Whether `mm` may be named by an operation.
  bool usable(MmId mm) const { return guest_.alive(mm) && !dropped_[mm]; }

  /// The slot that the next kNewMm will get.
  MmId last_new_mm() const { return last_new_mm_; }

  Guest& guest() { return guest_; }
  const Guest& guest() const { return guest_; }
  const Truth& truth() const { return truth_; }
  Truth& truth() { return truth_; }
  const Rules& rules() const { return rules_; }
  SequentialPolicy& policy() { return policy_; }
  Kernel<SequentialPolicy> kernel() { return {guest_, rules_, policy_}; }

  /// Whoever wants to watch; null: nobody. It must outlive its use.
  void observe(Observer* observer) { policy_.observer = observer; }

  const std::vector<Violation>& violations() const { return policy_.violations; }
  u64 nr_violations() const { return policy_.nr_violations; }

 private:
  OpError check(const Op& op) const;
  void run(const Op& op);
  bool may_wait_for_temporary_mm(const Op& op) const;
  OpError run_or_refuse(const Op& op);
  void visit_user_mode(Cpu cpu);
  void free_dropped_mms();

  /// What an operation that is taken back has changed. Kept for its memory: a copy in place costs
  /// a tenth of a new one.
  struct Before {
    std::optional<Guest> guest;
    std::optional<Truth> truth;
    TlbBatch batch;
    std::vector<SequentialPolicy::Pending> pending;
    std::vector<Violation> violations;
    u64 nr_violations = 0;
  };

  Rules rules_;
  Guest guest_;
  Truth truth_;
  NamedTargetsHost named_targets_;
  SequentialPolicy policy_;
  TlbBatch batch_;
  std::vector<u8> dropped_;  // by mm slot
  std::vector<MmId> dying_;
  MmId last_new_mm_ = kInitMm;
  u32 nr_inside_temporary_mm_ = 0;
  Before before_;
  std::vector<MmId> used_before_temporary_;  // by CPU: what its task uses
};

}  // namespace hvtlb
