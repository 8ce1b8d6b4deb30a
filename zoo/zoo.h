// The bug zoo: historical and latent faults of this code, each a selectable variant of an era, with
// a scenario that shows it and corrected rules under which the same scenario is clean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/checks.h"
#include "model/rules.h"
#include "scenario/from_ops.h"
#include "scenario/inspector.h"

namespace hvtlb::zoo {

/// What a fault shows itself by: a broken verdict, or a cost above that of the corrected rules.
enum class Sign : u8 {
  kP1,
  kP2,
  kP3,
  kP4,
  kP7,
  kP8,
  kLazy,
  kIrq,
  kCr3,
  kLazyReached,     ///< P5: lazy CPUs reached without need
  kStaleReached,    ///< P5: CPUs reached that run something else
  kSweptIn,         ///< P5: CPUs that only ALL_PROCESSORS brought in
  kNotTrimmed,      ///< P6: bits that a trim round had to clear
  kStaleKept,       ///< bits of CPUs that run something else, after a trim round
  kRedundantFlush,  ///< a PCID emptied that held nothing old
  kNobodyNamed,     ///< P7, cost: a call that names nobody
};

/// `P1`, `P5 lazy`, ...
std::string_view name_of(Sign sign);

/// Where an entry stands.
enum class Kind : u8 {
  kGuest,  ///< rules of the guest; a scenario shows it
  kHost,   ///< a hypervisor's decoder; one call shows it
  kRace,   ///< a litmus shows it, in some interleaving
};

struct Entry {
  std::string_view id;     ///< `Z07`, a variant `Z07-plain`
  std::string_view title;  ///< what goes wrong, in a few words
  std::string_view about;  ///< mechanism and history, one or two sentences
  Kind kind = Kind::kGuest;
  Sign sign = Sign::kP1;
  // The corrected twin: the variant's era, unless another is named, with `twin_set`.
  std::string_view twin_era = {};  ///< empty: the variant's
  std::string_view twin_set = {};  ///< `FIELD=VALUE` on top, or nothing
  bool twin_native = false;        ///< the twin takes the native path
  /// YAML of the scenario or litmus: era, fields and path. Empty for a host, and for Z34.
  std::string_view scenario = {};
};

/// Whether one sequence or one call shows it: what random tests and fuzzers can find.
inline bool is_sequential(const Entry& entry) {
  return entry.kind == Kind::kGuest || entry.kind == Kind::kHost;
}

/// All entries, by number.
std::span<const Entry> entries();

/// The entry of that id, or null.
const Entry* find_entry(std::string_view id);

/// What was seen in one run.
struct Seen {
  std::vector<Violation> violations;
  u64 nr_violations = 0;
  Costs costs;
};

/// Whether the fault shows: `sign` in the variant's run, and not in the twin's. What speaks for it
/// as one line, or nothing.
std::optional<std::string> fault_shows(Sign sign, const Seen& variant, const Seen& twin);

/// The rules that an entry stands for: the faulty ones and the corrected ones.
struct Pair {
  std::string era;               ///< of the faulty rules
  std::vector<std::string> set;  ///< FIELD=VALUE on top of it
  Rules faulty;
  Rules corrected;
  MachineShape shape;  ///< of the scenario
  bool twin_native = false;
};

/// REQUIRES: the entry is a `kGuest`.
Pair pair_of(const Entry& entry);

/// The outcome of an entry's own scenario or call.
struct Outcome {
  std::string variant;  ///< what showed; empty: nothing did
  std::string twin;     ///< what was wrong with the corrected twin; empty: it is clean
  bool ok() const { return !variant.empty() && twin.empty(); }
};

/// Runs the entry's scenario, call or litmus under the fault and under the corrected rules. A
/// litmus runs under SC and TSO, and the corrected rules hold in every interleaving.
Outcome run(const Entry& entry);

/// Runs operations under rules and looks with every checker. `meant`: what the rules ought to be.
Seen look(const MachineShape& shape, const Rules& rules, const Rules& meant,
          std::span<const Op> ops);

/// The same for operations that name processes, with the run's host.
Seen look(const OpsRun& run, const Rules& rules, const Rules& meant);

/// Whether a random run shows the entry's fault and is clean under the corrected rules. The run's
/// path is the entry's. REQUIRES: a `kGuest`.
std::optional<std::string> found_by(const Entry& entry, const Pair& pair, OpsRun run);

}  // namespace hvtlb::zoo
