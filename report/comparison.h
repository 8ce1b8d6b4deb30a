// One scenario under several sets of rules: what every flush did, counted and grouped.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "flush/recorder.h"
#include "model/eras.h"
#include "scenario/runner.h"
#include "scenario/scenario.h"
#include "trace/native_kind.h"

namespace hvtlb {

/// Rules with the name under which they are shown.
struct NamedRules {
  std::string name;          ///< the era, with what was set on top of it
  const Era* era = nullptr;  ///< the era as it is, for its known faults; null when changed
  Rules rules;
};

/// How a flush went out, without the CPUs: flushes of one form can be counted together.
struct FlushForm {
  enum class Kind : u8 {
    kNobody,
    kLocal,
    kNative,
    kPeriodicTrim,
    kImmediateTrim,
    kNoIpi,
    kAllProcessors,
    kPlain,
    kEx
  } kind;
  u32 targets;  ///< VPs named or swept in, or IPIs sent
  bool self;    ///< native: this CPU ran the handler, too

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the operator for a null pointer
  auto operator<=>(const FlushForm&) const = default;
};

FlushForm form_of(const FlushRecord& record);

/// `2 all-processor calls with 96 targets each`, `1 immediate trim with 95 IPIs`, ...
std::string form_text(const FlushForm& form, u64 count);

/// Sums over flushes.
struct FlushCounts {
  u64 flushes = 0;
  u64 local = 0;
  u64 nobody = 0;
  u64 native = 0;
  u64 trim_rounds = 0;      ///< of the native ones: with the trim flag, for whatever reason
  u64 periodic_trims = 0;   ///< of the native ones, as are the next two; none counts twice
  u64 immediate_trims = 0;  ///< the fix's, with somebody to trim
  u64 no_ipi = 0;           ///< this CPU alone, or nobody
  u64 ipis = 0;
  u64 trim_ipis = 0;  ///< of the IPIs
  u64 hypercalls = 0;
  u64 all_processors = 0;  ///< of the hypercalls
  u64 ex_calls = 0;        ///< of the hypercalls
  u64 targets = 0;         ///< of the hypercalls
  u64 bytes = 0;           ///< of the hypercalls' input
  u64 reached = 0;
  u64 needed = 0;
  u64 missed = 0;  ///< needed and not reached
  std::array<u64, kNrExcess> excess{};
  u64 swept = 0;  ///< of the excess: only ALL_PROCESSORS brought it in

  void add(const FlushRecord& record);
  u64 nr_excess() const;
};

/// Equal flushes in a row.
struct FlushRow {
  u64 first = 0;  ///< number of the first one, from 1
  u64 count = 0;
  Verb caller = Verb::kFlush;
  std::string process;
  u64 pages = 0;
  FlushRecord record;
};

/// Rows beyond this many are counted, not kept.
inline constexpr std::size_t kMaxRows = 10'000;

struct EraResult {
  NamedRules rules;
  FlushCounts total;
  FlushCounts measured;  ///< inside `measure` loops
  u64 iterations = 0;    ///< of them
  std::map<Verb, FlushCounts> by_caller;
  std::map<Verb, FlushCounts> measured_by_caller;
  std::map<FlushForm, u64> forms;
  std::map<FlushForm, u64> measured_forms;
  std::vector<FlushRow> rows;
  u64 rows_dropped = 0;
  u64 operations = 0;
  std::vector<Violation> violations;
  std::vector<const KnownFault*> explained_by;  ///< of each violation; null: a finding
  u64 nr_violations = 0;
  u64 nr_unexplained = 0;    ///< of them: no known fault of the era explains them
  bool known_fault = false;  ///< every violation is one that the era is known for, by its trigger
  std::vector<ScenarioRunner::MaskAtEnd> masks;
};

struct Comparison {
  std::string scenario;  ///< the built-in's or the file's name
  std::string title;
  std::string about;
  MachineShape machine;
  VpNumbering vp;
  std::string host;  ///< who answers the hypercalls
  std::vector<EraResult> eras;
  bool stopped = false;  ///< Ctrl-C ended it early
};

/// Runs the scenario under every set of rules. `operations` counts them as they run.
ScenarioResult<Comparison> compare(const Scenario& scenario, const std::vector<NamedRules>& rules,
                                   const std::atomic<bool>* stop, std::atomic<u64>* operations);

/// What made the difference between two of the eras, one sentence a line: in the measured part, or
/// in the whole run where nothing is measured.
std::vector<std::string> explain(const EraResult& before, const EraResult& after);

/// Counts turned into microseconds. Off unless the user gives the numbers.
struct CostModel {
  double hypercall = 0;
  double target = 0;
  double ipi = 0;
  double local = 0;

  double microseconds(const FlushCounts& counts) const;
};

}  // namespace hvtlb
