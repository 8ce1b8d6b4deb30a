// What one flush did, as a record: who was in the mask, who needed it, whom the native path would
// have reached, whom it did reach, and why each CPU too many was reached (P5).
#pragma once

#include <functional>
#include <vector>

#include "model/kernel.h"
#include "model/sequential.h"

namespace hvtlb {

/// How a flush went out.
enum class Outcome : u8 {
  kNone,    ///< nobody was to be reached
  kLocal,   ///< this CPU alone, without a call
  kNative,  ///< IPIs
  kHypercall,
};

std::string_view name_of(Outcome outcome);

/// Why a CPU was reached that did not need it; the first that fits.
enum class Excess : u8 { kOffline, kSelf, kSwitching, kLazy, kStale };
inline constexpr u32 kNrExcess = 5;

std::string_view name_of(Excess excess);

struct HypercallRecord {
  u64 control = 0;
  u64 result = 0;
  std::vector<u64> input;  ///< the words that the control word declares
};

struct FlushRecord {
  FlushTlbInfo request;  ///< with the trim flag that the sender gave it
  CpuMask mask;          ///< as passed, when the targets were chosen
  CpuMask needed;
  CpuMask native;  ///< the era's own predicate on this request
  CpuMask sent;    ///< CPUs reached, by call, IPI or locally; offline ones too
  CpuMask by_ipi;  ///< of these by IPI; this one not counted
  Outcome outcome = Outcome::kNone;
  bool trim = false;          ///< the native path ran as a trim round
  bool swept_by_all = false;  ///< ALL_PROCESSORS was used
  bool fell_back = false;     ///< a hypercall was tried and answered with an error
  std::vector<HypercallRecord> hypercalls;
  CpuMask excess[kNrExcess];  ///< `sent` without `needed`, by class

  /// As of a flush that begins. Keeps the memory of the one before.
  void begin(const FlushTlbInfo& info, std::span<const u64> mask_words, u32 nr_cpus);

  CpuMask missed() const { return needed - sent; }
  u32 nr_ipis() const { return by_ipi.count(); }
  u32 nr_excess() const { return (sent - needed).count(); }
};

/// Watches a run and hands every flush to `sink` when it returns.
class FlushRecorder final : public Observer {
 public:
  using Sink = std::function<void(const FlushRecord&)>;

  FlushRecorder(Kernel<SequentialPolicy> kernel, const Truth& truth, Sink sink)
      : kernel_(kernel), truth_(truth), sink_(std::move(sink)) {}

  /// The flush that runs, as far as it has come.
  const FlushRecord& record() const { return record_; }

  void targets_chosen(Cpu, std::span<const u64> mask, const FlushTlbInfo&) override;
  void flushed_locally(Cpu, const FlushTlbInfo&) override;
  void sent_natively(Cpu, const CpuMask& targets, const FlushTlbInfo&) override;
  void called(Cpu, u64 control, std::span<const u64> input, const HostEffect&) override;
  void returned(Cpu, const FlushTlbInfo&) override;

 private:
  bool needs(Cpu cpu, const FlushTlbInfo& info) const;
  Excess classify(Cpu cpu) const;

  Kernel<SequentialPolicy> kernel_;
  const Truth& truth_;
  Sink sink_;
  FlushRecord record_;
  std::vector<Excess> class_of_;  // per CPU, at the instant the targets were chosen
};

}  // namespace hvtlb
