// Any number of CPUs, as seen by two of them. One CPU flushes an mm; another runs, leaves and
// borrows mms for ever; and everything that further CPUs could do to what these two see may happen
// at any moment. What holds here holds on a machine of any size (docs/any-number-of-cpus.md).
//
// The environment, as the further CPUs are called, has no state of its own. What it may have done
// is chosen when somebody looks: at a word of a further CPU, at the mm's generation, at the mask.
#pragma once

#include <string_view>

#include "explore/step.h"
#include "model/rules.h"

namespace hvtlb::explore {

/// How the initiator stands to the mm while it flushes.
enum class Initiator : u8 {
  kRuns,       ///< runs it, and goes on to
  kElsewhere,  ///< does not, or borrows it: may leave, and lose its bit, at any moment
};

/// What is flushed: one page-table change, always of the same page.
enum class FlushShape : u8 {
  kPage,
  kTables,  ///< and the page table of it is freed
  kSpace,   ///< the whole address space
  kBatch,   ///< unmapped, flushed later together with others
};

/// What a hypercall's form may depend on.
enum class Layout : u8 {
  kPlain,       ///< VP indices below 64, and the mask may hold every present CPU
  kSpareCpu,    ///< a present CPU is in no mask
  kHighTarget,  ///< the target's VP index is 70
  kHighOther,   ///< that of a further CPU is 71
};

struct EnvironmentCase {
  Rules rules;
  bool hyperv = true;
  FlushShape flush = FlushShape::kPage;
  Initiator initiator = Initiator::kRuns;
  /// One CPU alone, which flushes in between: the initiator as its own target.
  bool alone = false;
  Layout layout = Layout::kPlain;
  /// Stores in a CPU's buffer. Under the eras' rules there are never so many; some faulty rules let
  /// a CPU store for ever without a fence, and they would have no end.
  u32 most_buffered = 5;
};

/// The initiator, the target, and the CPU that stands for all others.
inline constexpr Cpu kInitiatorCpu = 0;
inline constexpr Cpu kTargetCpu = 1;
inline constexpr Cpu kOtherCpu = 2;

/// The mm that is flushed, and one that stands for all others.
inline constexpr MmId kFlushedMm = 1;
inline constexpr MmId kOtherMm = 2;

std::string_view name_of(FlushShape flush);
std::string_view name_of(Layout layout);
/// `runs the mm`; `alone`.
std::string_view initiator_text(const EnvironmentCase& which);

}  // namespace hvtlb::explore
