// Watches a run with every checker there is: P5's sets, P6, P7 and the interrupt flag beside the
// machine's own P1 to P4. Verdicts go to the machine's list of violations, the rest is counted.
#pragma once

#include <array>
#include <optional>
#include <set>

#include "flush/recorder.h"
#include "model/eras.h"
#include "scenario/machine.h"
#include "scenario/wire_checks.h"

namespace hvtlb {

/// What a run cost: measurements, never verdicts.
struct Costs {
  u64 flushes = 0;
  u64 hypercalls = 0;
  u64 ipis = 0;
  std::array<u64, kNrExcess> excess{};  ///< CPUs reached without need, by class, P5
  u64 swept = 0;                        ///< CPUs reached only because ALL_PROCESSORS was used
  u64 full_flushes = 0;                 ///< CR3 writes that emptied a PCID
  u64 redundant_flushes = 0;            ///< of these, PCIDs that held the mm and nothing old
  u64 not_trimmed = 0;                  ///< bits that a trim round had to clear and did not, P6
  u64 stale_kept = 0;    ///< bits of CPUs that run something else, lazy or not, after a trim round
  u64 nobody_named = 0;  ///< EX calls without a target
  u64 dear_forms = 0;    ///< EX where plain would do, empty banks at the end
  u64 pages_beyond = 0;  ///< pages named beyond the request
};

class Inspector final : public Observer {
 public:
  /// `meant`: the rules whose targets the calls are judged by; those of the machine, or what they
  /// ought to be where the machine runs a fault of the zoo. `sink`, when given, gets every flush.
  /// `era`: whose known faults explain violations; null: none do.
  Inspector(Machine& machine, const Rules& meant, const Era* era = nullptr,
            FlushRecorder::Sink sink = {});

  const Costs& costs() const { return costs_; }
  /// Violations that no known fault of the era explains.
  u64 nr_unexplained() const { return nr_unexplained_; }
  const std::optional<Violation>& first_unexplained() const { return first_unexplained_; }

  void cr3_to_be_written(Cpu cpu, u64 cr3) override;
  void targets_chosen(Cpu self, std::span<const u64> mask, const FlushTlbInfo& info) override;
  void flushed_locally(Cpu cpu, const FlushTlbInfo& info) override;
  void sent_natively(Cpu self, const CpuMask& targets, const FlushTlbInfo& info) override;
  void called(Cpu cpu, u64 control, std::span<const u64> input, const HostEffect& effect) override;
  void returned(Cpu cpu, const FlushTlbInfo& info) override;
  void violated(const Violation& violation) override;

 private:
  void add(const FlushRecord& record);
  void judge(const FlushRecord& record);
  void judge_trim(const FlushRecord& record);
  CpuMask online() const;
  void report(Property property, Cpu cpu, MmId mm, std::string why, u64 va = 0);

  Machine& machine_;
  const Rules meant_;
  const Era* era_;
  FlushRecorder::Sink sink_;
  FlushRecorder recorder_;
  WireChecker wire_;
  Costs costs_;
  u64 nr_unexplained_ = 0;
  std::optional<Violation> first_unexplained_;
  std::set<MmId> empty_set_sent_;  ///< mms with an EX call without banks; kInitMm: for all mms
  // Of the flush that runs
  CpuMask mask_;
  CpuMask present_;
  CpuMask meant_targets_;
  CpuMask to_be_trimmed_;  // what P6 asks of a trim round
  u64 irqs_off_before_ = 0;
};

}  // namespace hvtlb
