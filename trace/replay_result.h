// What a replay comes to.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flush/recorder.h"
#include "trace/mm_lives.h"
#include "trace/native_kind.h"
#include "trace/reader.h"
#include "trace/replay_world.h"

namespace hvtlb {

/// How well a flush's mm, mask and CPU states are known in one era.
enum class Knowledge : u8 {
  kExact,    ///< the mm's life began in the recording, or a recorded mask confirmed it
  kBounded,  ///< CPUs may be in the mask that have not been seen
  kGuessed,  ///< also what the flushing CPU runs is inferred from its flushing, or there is no mm
};
inline constexpr u32 kNrKnowledge = 3;

std::string_view name_of(Knowledge knowledge);

/// Sums over all flushes in one era. Counts of CPUs add up flush by flush.
struct EraTotals {
  std::string name;
  bool hyperv = false;  ///< the path: Hyper-V's builder or IPIs
  u64 flushes = 0;
  u64 nobody = 0;              ///< nobody was to be reached
  u64 local = 0;               ///< the flushing CPU alone
  u64 by_hypercall = 0;        ///< flushes that went out as hypercalls
  u64 hypercalls = 0;          ///< calls made, repeated ones included
  u64 targets = 0;             ///< CPUs that the calls reached
  u64 all_processors = 0;      ///< flushes that named all processors
  u64 native = 0;              ///< flushes by IPI
  u64 ipis = 0;                ///< CPUs interrupted, the flushing CPU not counted
  u64 trim_rounds = 0;         ///< of the native ones: with the trim flag, for whatever reason
  u64 periodic_trims = 0;      ///< of the native ones, as are the next two; none counts twice
  u64 immediate_trims = 0;     ///< the fix's, with somebody to trim
  u64 no_ipi = 0;              ///< this CPU alone, or nobody
  u64 reached = 0;             ///< CPUs reached in any way
  u64 needed = 0;              ///< CPUs that needed it
  u64 missed = 0;              ///< needed and not reached
  u64 excess[kNrExcess] = {};  ///< reached and not needed, by class
  u64 knowledge[kNrKnowledge] = {};
  std::array<u64, kNrJudged> violations{};  ///< P1 to P4
  std::optional<Violation> first_violation;

  u64 needless() const;
  u64 nr_violations() const;
};

/// The model of the recorded era against what the kernel recorded.
struct Conformance {
  u64 masks = 0;              ///< recorded masks of mms whose mask was known before
  u64 masks_equal = 0;        ///< of these, as the model had predicted
  u64 masks_first_sight = 0;  ///< recorded masks of mms that were not known: adopted, not compared
  u64 masks_batched = 0;      ///< masks of batches: the recording does not say of which mms
  u64 generations = 0;        ///< recorded generations of mms whose life began in the recording
  u64 generations_equal = 0;
  u64 joined_late = 0;     ///< flushes that another CPU joined between call and choice of targets
  u64 multi_not_seen = 0;  ///< the model reached other CPUs, the kernel did not take that path
  u64 first_mismatch_line = 0;  ///< 0: none
  u64 first_mismatch_model = 0;
  u64 first_mismatch_recorded = 0;
};

struct MmRow {
  u64 serial = 0;
  std::string comm;
  FlushTally tally;
};

/// How often one CPU was reached by another's flush, by era.
struct VictimRow {
  Cpu cpu = 0;
  std::vector<u64> reached;
  std::vector<u64> needless;
};

struct ReplayResult {
  ReadStats read;
  u32 nr_cpus = 0;
  u64 hz = 0;
  u64 duration_ns = 0;
  u64 beyond_cpus = 0;      ///< events on CPUs that the machine does not have: left out
  u64 unknown_context = 0;  ///< events without a flags column
  bool has_time = true;     ///< false: the clock is a counter, jiffies stand still
  u64 mms = 0;              ///< mms seen, one for every life
  Conformance conformance;
  std::vector<EraTotals> eras;  ///< the recorded one first
  std::vector<MmRow> by_mm;     ///< most CPUs reached first, under the second era
  std::map<std::string, FlushTally> by_comm;
  std::vector<VictimRow> victims;

  u64 flush_events() const;
  /// Events that carry the kernel's own mask: `ntm`.
  u64 mask_events() const;
  /// Whether there was enough to say anything: flushes, and switches to know the CPUs by.
  bool enough() const;
};

/// One flush in every era, as it happens.
struct ReplayedFlush {
  u64 line = 0;
  u64 time_ns = 0;
  Cpu cpu = 0;
  std::string_view comm;
  u64 mm_serial = 0;                         ///< 0: a batch, without an mm
  const FlushRangeEvent* request = nullptr;  ///< null: a batch
  std::optional<u64> recorded_mask;          ///< its first word
  Knowledge knowledge = Knowledge::kBounded;
  std::vector<const FlushRecord*> eras;  ///< as in `ReplayResult::eras`
};

}  // namespace hvtlb
