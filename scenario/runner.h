// Runs a scenario in sequence under one set of rules.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "scenario/inspector.h"
#include "scenario/machine.h"
#include "scenario/profile_host.h"
#include "scenario/scenario.h"

namespace hvtlb {

/// A flush and who asked for it.
struct ScenarioFlush {
  const FlushRecord& record;
  Verb caller;  ///< kMprotect, kFork, kExit, ...
  std::string_view process;
  u64 pages;      ///< as the step says; 0: everything
  bool measured;  ///< inside a `measure` loop
};

class ScenarioRunner {
 public:
  using Sink = std::function<void(const ScenarioFlush&)>;

  /// `sink` gets every flush in order. `era`: whose known faults explain violations; null: none.
  /// `meant`: see Inspector; null: the rules themselves. The scenario must outlive the runner.
  ScenarioRunner(const Scenario& scenario, const Rules& rules, Sink sink, const Era* era = nullptr,
                 const Rules* meant = nullptr);

  /// Runs all steps. Returns what stopped it, if anything did: a step that does not fit the state.
  /// `stop`, when given, is looked at between steps; the run then ends early without an error.
  std::optional<ScenarioError> run(const std::atomic<bool>* stop = nullptr);

  const Machine& machine() const { return machine_; }
  /// Violations that no known fault of the era explains.
  u64 nr_unexplained() const { return inspector_.nr_unexplained(); }
  const Costs& costs() const { return inspector_.costs(); }
  u64 operations() const { return operations_.load(std::memory_order_relaxed); }
  u64 measured_iterations() const { return measured_iterations_; }
  bool stopped() const { return stopped_; }

  /// The CPUs in the mask of a process's mm, and those of them that run it.
  struct MaskAtEnd {
    std::string process;
    u32 in_mask;
    u32 running;
  };
  std::vector<MaskAtEnd> masks_at_end() const;

 private:
  struct ProcessState {
    u32 threads = 1;
    std::optional<MmId> mm;    ///< none after its exit
    std::vector<Cpu> runs_on;  ///< in the order in which they began
  };

  void run_steps(const std::vector<Step>& steps, std::optional<Cpu> loop_cpu);
  void run_loop(const Step& step, std::optional<Cpu> loop_cpu);
  void run_step(const Step& step, std::optional<Cpu> loop_cpu);
  void apply(const Op& op, const Step& step);
  void flush(const Step& step, const ProcessState& process, Cpu cpu, u64 start, u64 end, u8 stride,
             bool freed_tables);
  void make_process(const Step& step, const std::string& name);
  void fork(const Step& step, ProcessState& process, Cpu cpu, std::optional<Cpu> loop_cpu);
  void exec(const Step& step, ProcessState& process, Cpu cpu);
  void exit(const Step& step, ProcessState& process, Cpu cpu);
  void run_on(const Step& step, ProcessState& process, Cpu cpu);
  void stops_running(Cpu cpu);
  void goes_lazy(const Step& step, Cpu cpu);
  MmId new_mm(const Step& step);

  std::string full_name(const std::string& name, std::optional<Cpu> loop_cpu) const;
  ProcessState& process_of(const Step& step, std::optional<Cpu> loop_cpu);
  std::optional<Cpu> chosen_cpu(const Step& step, std::optional<Cpu> loop_cpu) const;
  Cpu cpu_of(const Step& step, std::optional<Cpu> loop_cpu) const;
  Cpu sender_of(const Step& step, const ProcessState& process, std::optional<Cpu> loop_cpu) const;
  bool chosen(const CpuChoice& choice, Cpu cpu) const;

  const Scenario& scenario_;
  ProfileHost host_;
  Machine machine_;
  Sink sink_;
  Inspector inspector_;
  std::map<std::string, ProcessState> processes_;
  std::vector<ProcessState*> runs_;  // by CPU; null: nobody
  const std::atomic<bool>* stop_ = nullptr;
  std::atomic<u64> operations_ = 0;
  u64 measured_iterations_ = 0;
  u32 measuring_ = 0;
  bool stopped_ = false;
  Verb caller_ = Verb::kFlush;
  std::string caller_process_;
  u64 caller_pages_ = 0;
};

}  // namespace hvtlb
