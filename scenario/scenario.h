// A scenario: a machine, processes, and what they do, in a program's words (run, idle, mprotect,
// fork), which come down to operations of the machine when it is run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/profile.h"
#include "model/guest.h"
#include "model/rules.h"

namespace hvtlb {

/// The version that a scenario file names in its first key.
inline constexpr u64 kScenarioVersion = 1;

inline constexpr std::size_t kMaxScenarioBytes = 1 << 20;
inline constexpr u64 kMaxScenarioSteps = 100'000;  ///< steps as written
inline constexpr u64 kMaxRepeats = 1'000'000;      ///< of one loop
inline constexpr u64 kMaxOperations = 20'000'000;  ///< of a whole run
inline constexpr u64 kMaxPages = u64{1} << 27;     ///< of one call: 512 GiB
inline constexpr u64 kMaxJiffies = 1'000'000'000;  ///< of one tick
inline constexpr u32 kMaxScenarioDepth = 32;       ///< loops within loops

/// A place in the file, both counted from 1.
struct Mark {
  u32 line = 0;
  u32 column = 0;
};

/// What is wrong with a scenario, as one line: `file:line:column: found …, expected …`.
struct ScenarioError {
  std::string file;
  Mark at;
  std::string what;

  std::string to_string() const;
};

enum class Verb : u8 {
  kEachCpu,
  kRepeat,
  kMeasure,  ///< a repeat whose flushes are also counted by iteration
  kRun,
  kIdle,
  kLeaveMm,
  kTouch,
  kMprotect,
  kMadvise,
  kMunmap,
  kMremap,
  kFlush,
  kFork,
  kExec,
  kExit,
  kBatchAdd,
  kBatchFlush,
  kFlushBatchedPending,
  kNestedReclaim,
  kNewMm,
  kDropMm,
  kUseGlobalAsid,
  kEnableLam,
  kTick,
  kOffline,
  kOnline,
  kUseTemporaryMm,
  kUnuseTemporaryMm,
};
inline constexpr u32 kNrVerbs = 28;

std::string_view name_of(Verb verb);

/// Which CPUs an `each cpu` visits.
struct CpuChoice {
  enum class Kind : u8 { kAll, kAllBut, kOf } kind = Kind::kAll;
  std::vector<std::pair<Cpu, Cpu>> ranges;  ///< first and last, inclusive
};

struct Step {
  Verb verb = Verb::kTick;
  Mark at;
  std::string process;     ///< empty: the first one declared; `%` stands for the CPU of the loop
  std::string child;       ///< of a fork
  std::optional<Cpu> cpu;  ///< `on N`
  u64 count = 0;           ///< pages, repeats, jiffies
  std::optional<u64> va;   ///< `at VA`
  u64 start = 0;           ///< of a flush
  u64 end = 0;
  u8 stride_shift = kPageShift;
  bool freed_tables = false;
  CpuChoice cpus;  ///< of an `each cpu`
  std::vector<Step> body;
};

struct Process {
  std::string name;
  u32 threads = 1;  ///< on how many CPUs it may run at once
};

/// How VP indices are given to CPUs.
struct VpNumbering {
  enum class Kind : u8 { kLinear, kList } kind = Kind::kLinear;
  u32 offset = 0;  ///< linear: VP of CPU n = offset + stride * n
  u32 stride = 1;
  std::vector<u32> list;
};

struct Scenario {
  std::string file;  ///< for messages
  std::string name;
  std::string about;
  MachineShape machine;
  VpNumbering vp;
  host::Profile host = host::Profile::tlfs;  ///< who answers the hypercalls
  std::string era;                           ///< the era it was made under; empty: none
  std::vector<std::string> set;              ///< FIELD=VALUE on top of it
  std::vector<Process> processes;
  std::vector<Step> steps;
};

template <class T>
using ScenarioResult = std::variant<T, ScenarioError>;

/// Reads a scenario's text. `cpus`, when given, takes the place of the machine's own number.
/// Never throws; at most kMaxScenarioBytes are read.
ScenarioResult<Scenario> read_scenario(const std::string& text, const std::string& file,
                                       std::optional<u64> cpus = std::nullopt);

/// Reads a scenario file, `-` for standard input.
ScenarioResult<Scenario> read_scenario_file(const std::string& path,
                                            std::optional<u64> cpus = std::nullopt);

/// The scenario in canonical form: reading it back gives the same scenario.
std::string print_scenario(const Scenario& scenario);
/// The keys of it that litmus files have, too: name, about, machine, rules, processes.
std::string print_setup(const Scenario& scenario);

}  // namespace hvtlb
