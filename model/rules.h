// The rules of one kernel era, as named fields. An era (eras.h) is a row of these; a fault of the
// bug zoo is an era with one field changed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/types.h"

namespace hvtlb {

/// How `switch_mm_irqs_off()` enters the next mm's mask.
enum class NextBit : u8 {
  kLockedSet,   ///< always a LOCKed set, which is also a full fence
  kSetIfClear,  ///< test first, LOCKed set only when the bit is clear (209954cbc7d0, v6.14)
  kPlainSet,    ///< zoo Z17: no LOCKed operation, so the generation may be read before it is seen
};

/// What `switch_mm_irqs_off()` does with the bit in the previous mm's mask.
enum class PrevBit : u8 {
  kCleared,     ///< LOCKed clear before CR3 is written (eager upkeep)
  kLeftBehind,  ///< stays; a handler trims it later (209954cbc7d0, v6.14)
};

/// When `loaded_mm` becomes LOADED_MM_SWITCHING.
enum class SwitchingMarker : u8 {
  kAfterGenRead,  ///< after the next mm's generation was read: too late to be of use to a sender
  kBeforeBits,    ///< before the mask bits and the generation
};

/// What `flush_tlb_func()` does when another mm than the request's is loaded.
enum class ForeignMm : u8 {
  kRemoteReturns,  ///< a remote CPU returns; the initiator is assumed to run the mm
  kClearsOwnBit,   ///< any CPU clears its own bit in the request's mask and returns (v6.14)
};

/// Which CPUs of the mask Hyper-V's builder names when no page tables were freed.
enum class HypervTargets : u8 {
  kWholeMask,        ///< every CPU of the mask (to v6.3 and the stable trees based on it)
  kNotLazy,          ///< CPUs that are not lazy (493cc07385cf, v6.4)
  kNativePredicate,  ///< CPUs for which the native predicate holds (the fix under review)
};

/// What the all-processors test and the choice of the hypercall's format look at.
enum class HypervFormatFrom : u8 {
  kMask,     ///< the mask as passed
  kTargets,  ///< the filtered targets (the fix under review)
};

/// Whom enabling LAM for an mm reaches (zoo Z24).
enum class LamEnable : u8 {
  kWholeMask,  ///< every CPU of the mask, kernel threads that borrow the mm included
  kThisCpu,
};

/// Which bit a flush of a kernel PCID sets for its user half (zoo Z40).
enum class UserPcidBit : u8 {
  kAsidPlusOne,
  kForgotten,  ///< none when CR3 is reloaded with a flush
  kAsid,       ///< that of the ASID before
};

/// How `flush_tlb_mm_range()` increments the mm's generation.
enum class GenIncrement : u8 {
  kBeforeSend,  ///< LOCKed, which is also the fence behind the page-table stores
  kAfterSend,   ///< zoo Z36: the receivers find nothing to do
  kPlain,       ///< zoo Z17: before the send, without a fence
};

/// How a CPU leaves laziness for the mm that it has loaded.
enum class LazyExit : u8 {
  kFence,     ///< is_lazy := false, full fence, then the generation is read
  kNoFence,   ///< a mutation
  kGenFirst,  ///< a mutation: the generation is read before is_lazy is cleared
};

/// What the native predicate reads first of a CPU.
enum class PredicateReads : u8 {
  kLoadedMmFirst,
  kIsLazyFirst,  ///< a mutation
};

/// Which partial flushes the handler takes as partial ones.
enum class PartialFlush : u8 {
  kNextGen,    ///< the one flush that this CPU is behind
  kNewestGen,  ///< zoo Z18: any that brings the mm's generation; what it overtook is forgotten
};

/// In which order an mm's move to a global ASID is published.
enum class AsidPublication : u8 {
  kTransitionFirst,  ///< whoever sees the ASID sees the transition, too
  kAsidFirst,        ///< zoo Z25d: the two stores swapped
};

/// What the scan for CPUs that have not followed to the global ASID does with a switching one.
enum class AsidScan : u8 {
  kWaits,  ///< until its switch is over
  kSkips,  ///< zoo Z25e
};

/// When a flush that freed page tables hands them back.
enum class TableFree : u8 {
  kAfterFlush,
  kBeforeFlush,  ///< zoo Z19
};

/// What the handler takes for the loaded mm, and when that changes.
enum class ActiveMm : u8 {
  kNotAsked,         ///< x86: the handler asks `loaded_mm`
  kChangedWithMm,    ///< it asks `active_mm`, which changes together with the mm, interrupts off
  kChangedBeforeMm,  ///< zoo Z22: it changes first, and an IPI may come in between
};

/// What remembers that an mm has unmapped pages whose flush is deferred (`tlb_flush_batched`).
enum class BatchedPending : u8 {
  kCounters,  ///< how many were added, and how many of them have been flushed (v5.18)
  kFlag,      ///< zoo Z23b: a flush clears the flag of an unmap that came after it
  kNothing,   ///< zoo Z23c: nobody asks
};

/// When a batch takes over the mm's mask.
enum class BatchMask : u8 {
  kAfterGen,
  kBeforeGen,  ///< a mutation of Z23: a CPU that enters the mask in between is missed
};

/// Who removes a stale bit in a trim round.
enum class TrimBy : u8 {
  kHandler,  ///< each CPU its own
  kSender,   ///< zoo Z26: the sender, by what it has read of the other CPU
};

/// Whom a flush reaches that freed page tables.
enum class FreedTables : u8 {
  kReachLazy,  ///< every CPU of the mask
  kSkipLazy,   ///< zoo Z05: a lazy CPU keeps its paging-structure cache
};

/// In which of Hyper-V's two forms lazy CPUs are skipped, where `hv_targets` says `kNotLazy`.
enum class HypervLazySkip : u8 {
  kBothForms,
  kPlainOnly,  ///< zoo Z07: the walk for the EX form forgets to ask
  kExOnly,     ///< zoo Z07
  kInverted,   ///< zoo Z07: CPUs that are not lazy are skipped
};

/// Which bank words are cleared before an EX call's set is filled (zoo Z10).
enum class BankClearing : u8 {
  kAll,           ///< up to `hv_max_vp_index`
  kNone,          ///< those of the last call stay
  kFirstOnly,     ///< `nr_bank` words, when it still is 1
  kStaleMax,      ///< up to a maximum from before the last bank came
  kAfterSetting,  ///< too late: the targets go as well
};

/// What the builder does with a target whose VP index is unknown.
enum class InvalidVp : u8 {
  kNative,
  kUnchecked,  ///< zoo Z11: taken for a number
};

/// What an EX set of no banks is (`cpumask_to_vpset()` returns 0, zoo Z14).
enum class EmptyVpset : u8 {
  kSent,
  kNative,  ///< an error
};

/// How many 16 MiB units a list call may have to name (zoo Z15).
enum class ListCapacity : u8 {
  kFloor,    ///< the quotient is rounded down where the list needs it rounded up
  kCeiling,  ///< what fits
  kBoolean,  ///< zoo Z36: a misplaced parenthesis compares a truth value: there is no limit
};

/// How far the list builder's cursor goes for the last, shorter entry (zoo Z13).
enum class GvaTail : u8 {
  kToEnd,
  kFullUnit,  ///< 16 MiB, past the end and round the top of the address space
};

/// What the builder does when the live mask has run empty since the flush began (zoo Z12).
enum class EmptyLiveMask : u8 {
  kChecked,        ///< there is no last CPU, nobody is named, nothing is called
  kLastUnchecked,  ///< the VP index of the CPU behind the last one is read (to v5.16)
};

/// One era's behaviour, field by field.
struct Rules {
  // switch_mm_irqs_off()
  NextBit next_bit = NextBit::kLockedSet;
  PrevBit prev_bit = PrevBit::kCleared;
  SwitchingMarker switching_marker = SwitchingMarker::kAfterGenRead;
  bool fence_if_bit_set = false;    ///< full fence before the generation is read, set or not
  bool same_mm_repairs_bit = true;  ///< a switch to the loaded mm sets a missing mask bit
  // The native predicate, should_flush_tlb()
  bool predicate_loaded_mm = false;  ///< not lazy is not enough: the mm must be loaded
  bool predicate_switching = false;  ///< LOADED_MM_SWITCHING counts as the mm
  // Trimming
  bool sender_asks_trim = false;  ///< should_trim_cpumask() on the multi-CPU path
  ForeignMm handler_foreign_mm = ForeignMm::kRemoteReturns;
  bool unuse_clears_bit = false;  ///< unuse_temporary_mm() clears the temporary mm's bit
  // Global ASIDs
  bool global_asid = false;  ///< the branches for mms that move to a global ASID (v6.15)
  // What no two eras differ in: a field here is history older than the table, or a fault of the zoo
  LazyExit lazy_exit = LazyExit::kFence;
  bool switch_lets_irqs_in = false;  ///< between the mask bit and the generation (Z26)
  bool return_compares_gen = true;   ///< a slot is flushed when the mm has gone on (Z16)
  ActiveMm active_mm = ActiveMm::kNotAsked;
  PredicateReads predicate_reads = PredicateReads::kLoadedMmFirst;
  bool handler_lazy_first = false;  ///< laziness is tested before a move to a global ASID (Z25a)
  AsidPublication asid_publication = AsidPublication::kTransitionFirst;
  AsidScan asid_scan = AsidScan::kWaits;
  FreedTables freed_tables = FreedTables::kReachLazy;
  TableFree table_free = TableFree::kAfterFlush;
  GenIncrement gen_increment = GenIncrement::kBeforeSend;
  PartialFlush partial_flush = PartialFlush::kNextGen;
  TrimBy trim_by = TrimBy::kHandler;
  BatchMask batch_mask = BatchMask::kAfterGen;
  BatchedPending batched_pending = BatchedPending::kCounters;
  LamEnable lam_enable = LamEnable::kWholeMask;
  UserPcidBit user_pcid_bit = UserPcidBit::kAsidPlusOne;
  bool handler_knows_no_gen = true;  ///< generation 0 means "none" to the handler (8f1d56f64f8d)
  bool temporary_mm_leaves_lazy = true;    ///< use_temporary_mm() leaves a borrowed mm first
  bool trim_reaches_lazy = false;          ///< a trim round also reaches lazy CPUs on another mm
  bool nested_reclaim_keeps_batch = true;  ///< a nested reclaim leaves the outer batch alone
  // hyperv_flush_tlb_multi()
  HypervTargets hv_targets = HypervTargets::kWholeMask;
  HypervFormatFrom hv_format_from = HypervFormatFrom::kMask;
  bool hv_trim_round_native = false;  ///< trim rounds and ASID transitions use the native path
  bool hv_immediate_trim = false;     ///< no remote target: trim now, natively
  bool hv_immediate_trim_rewrites_next_trim = false;  ///< and put the next periodic round off
  // The same builder, where no two eras differ
  HypervLazySkip hv_lazy_skip = HypervLazySkip::kBothForms;
  BankClearing hv_bank_clearing = BankClearing::kAll;
  InvalidVp hv_invalid_vp = InvalidVp::kNative;
  EmptyVpset hv_empty_vpset = EmptyVpset::kSent;
  EmptyLiveMask hv_empty_live_mask = EmptyLiveMask::kChecked;
  bool hv_ex_nobody_returns = false;  ///< an EX call that would name nobody is not made (Z38)
  ListCapacity hv_list_capacity = ListCapacity::kFloor;
  GvaTail hv_gva_tail = GvaTail::kToEnd;
  bool hv_fallback_restores_irqs = true;  ///< the way out from the plain walk (Z39)

  bool operator==(const Rules&) const = default;
};

/// A field of `Rules` by name, for `--set FIELD=VALUE` and the table of eras.
struct RulesField {
  std::string_view name;
  std::string_view about;                    ///< one line, for `hvtlb eras`
  std::span<const std::string_view> values;  ///< what it may hold; `false`, `true` for flags
  unsigned (*get)(const Rules&);             ///< an index into `values`
  void (*set)(Rules&, unsigned);

  std::string_view value_of(const Rules& rules) const { return values[get(rules)]; }
};

/// All fields, in the order of `Rules`.
std::span<const RulesField> rules_fields();

/// The field of that name, or null.
const RulesField* find_rules_field(std::string_view name);

/// Applies `FIELD=VALUE`. Returns an empty string, or one line that says what is wrong.
std::string set_rules_field(Rules& rules, std::string_view assignment);

}  // namespace hvtlb
