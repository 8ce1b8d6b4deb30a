#include "model/rules.h"

#include <array>
#include <fmt/format.h>

namespace hvtlb {
namespace {

constexpr std::array<std::string_view, 2> kFlag{"false", "true"};
constexpr std::array<std::string_view, 3> kNextBit{"locked_set", "set_if_clear", "plain_set"};
constexpr std::array<std::string_view, 2> kPrevBit{"cleared", "left_behind"};
constexpr std::array<std::string_view, 2> kMarker{"after_gen_read", "before_bits"};
constexpr std::array<std::string_view, 2> kForeignMm{"remote_returns", "clears_own_bit"};
constexpr std::array<std::string_view, 3> kTargets{"whole_mask", "not_lazy", "native_predicate"};
constexpr std::array<std::string_view, 2> kFormatFrom{"mask", "targets"};

constexpr std::array<std::string_view, 3> kLazyExit{"fence", "no_fence", "gen_first"};
constexpr std::array<std::string_view, 3> kActiveMm{"not_asked", "changed_with_mm",
                                                    "changed_before_mm"};
constexpr std::array<std::string_view, 2> kPredicateReads{"loaded_mm_first", "is_lazy_first"};
constexpr std::array<std::string_view, 2> kPublication{"transition_first", "asid_first"};
constexpr std::array<std::string_view, 2> kAsidScan{"waits", "skips"};
constexpr std::array<std::string_view, 2> kTableFree{"after_flush", "before_flush"};
constexpr std::array<std::string_view, 2> kPartialFlush{"next_gen", "newest_gen"};
constexpr std::array<std::string_view, 2> kTrimBy{"handler", "sender"};
constexpr std::array<std::string_view, 2> kBatchMask{"after_gen", "before_gen"};
constexpr std::array<std::string_view, 3> kBatchedPending{"counters", "flag", "nothing"};
constexpr std::array<std::string_view, 2> kEmptyLiveMask{"checked", "last_unchecked"};
constexpr std::array<std::string_view, 2> kFreedTables{"reach_lazy", "skip_lazy"};
constexpr std::array<std::string_view, 3> kGenIncrement{"before_send", "after_send", "plain"};
constexpr std::array<std::string_view, 2> kLamEnable{"whole_mask", "this_cpu"};
constexpr std::array<std::string_view, 3> kUserPcidBit{"asid_plus_one", "forgotten", "asid"};
constexpr std::array<std::string_view, 4> kLazySkip{"both_forms", "plain_only", "ex_only",
                                                    "inverted"};
constexpr std::array<std::string_view, 5> kBankClearing{"all", "none", "first_only", "stale_max",
                                                        "after_setting"};
constexpr std::array<std::string_view, 2> kInvalidVp{"native", "unchecked"};
constexpr std::array<std::string_view, 2> kEmptyVpset{"sent", "native"};
constexpr std::array<std::string_view, 3> kListCapacity{"floor", "ceiling", "boolean"};
constexpr std::array<std::string_view, 2> kGvaTail{"to_end", "full_unit"};

template <auto Member>
constexpr RulesField field(std::string_view name, std::span<const std::string_view> values,
                           std::string_view about) {
  return {name, about, values,
          [](const Rules& rules) { return static_cast<unsigned>(rules.*Member); },
          [](Rules& rules, unsigned value) {
            using Value = std::remove_reference_t<decltype(rules.*Member)>;
            rules.*Member = static_cast<Value>(value);
          }};
}

constexpr std::array kFields{
    field<&Rules::next_bit>("next_bit", kNextBit, "how a switch enters the next mm's mask"),
    field<&Rules::prev_bit>("prev_bit", kPrevBit, "the bit in the previous mm's mask"),
    field<&Rules::switching_marker>("switching_marker", kMarker,
                                    "when loaded_mm becomes LOADED_MM_SWITCHING"),
    field<&Rules::fence_if_bit_set>("fence_if_bit_set", kFlag,
                                    "full fence when the bit was already set"),
    field<&Rules::same_mm_repairs_bit>("same_mm_repairs_bit", kFlag,
                                       "a switch to the loaded mm sets a missing bit"),
    field<&Rules::predicate_loaded_mm>("predicate_loaded_mm", kFlag,
                                       "the predicate wants the mm loaded (or a trim round)"),
    field<&Rules::predicate_switching>("predicate_switching", kFlag,
                                       "the predicate takes a switching CPU"),
    field<&Rules::sender_asks_trim>("sender_asks_trim", kFlag,
                                    "the sender asks whether a trim round is due"),
    field<&Rules::handler_foreign_mm>("handler_foreign_mm", kForeignMm,
                                      "the handler on a CPU that runs another mm"),
    field<&Rules::unuse_clears_bit>("unuse_clears_bit", kFlag,
                                    "unuse_temporary_mm() clears the temporary mm's bit"),
    field<&Rules::global_asid>("global_asid", kFlag, "branches for global ASIDs"),
    field<&Rules::lazy_exit>("lazy_exit", kLazyExit, "how a CPU leaves laziness for the same mm"),
    field<&Rules::switch_lets_irqs_in>("switch_lets_irqs_in", kFlag,
                                       "a handler may run in the middle of a switch"),
    field<&Rules::return_compares_gen>("return_compares_gen", kFlag,
                                       "a return to an mm compares generations"),
    field<&Rules::active_mm>("active_mm", kActiveMm,
                             "whether the handler asks active_mm, and when that changes"),
    field<&Rules::predicate_reads>("predicate_reads", kPredicateReads,
                                   "what the native predicate reads first"),
    field<&Rules::handler_lazy_first>("handler_lazy_first", kFlag,
                                      "the handler tests laziness before it takes a global ASID"),
    field<&Rules::asid_publication>("asid_publication", kPublication,
                                    "what of a global ASID is published first"),
    field<&Rules::asid_scan>("asid_scan", kAsidScan,
                             "the scan for CPUs without the global ASID, at a switching one"),
    field<&Rules::freed_tables>("freed_tables", kFreedTables,
                                "whom a flush with freed tables reaches"),
    field<&Rules::table_free>("table_free", kTableFree, "when freed tables are handed back"),
    field<&Rules::gen_increment>("gen_increment", kGenIncrement,
                                 "how a flush increments the mm's generation"),
    field<&Rules::partial_flush>("partial_flush", kPartialFlush,
                                 "which partial flushes the handler takes as such"),
    field<&Rules::trim_by>("trim_by", kTrimBy, "who removes a stale bit in a trim round"),
    field<&Rules::batch_mask>("batch_mask", kBatchMask, "when a batch takes over the mm's mask"),
    field<&Rules::batched_pending>("batched_pending", kBatchedPending,
                                   "what remembers that an mm's flushes are deferred"),
    field<&Rules::lam_enable>("lam_enable", kLamEnable, "whom enabling LAM reaches"),
    field<&Rules::user_pcid_bit>("user_pcid_bit", kUserPcidBit,
                                 "which user PCID a flush of a kernel PCID marks"),
    field<&Rules::handler_knows_no_gen>("handler_knows_no_gen", kFlag,
                                        "generation 0 means none to the handler"),
    field<&Rules::temporary_mm_leaves_lazy>("temporary_mm_leaves_lazy", kFlag,
                                            "use_temporary_mm() leaves a borrowed mm first"),
    field<&Rules::trim_reaches_lazy>("trim_reaches_lazy", kFlag,
                                     "a trim round reaches lazy CPUs on another mm"),
    field<&Rules::nested_reclaim_keeps_batch>("nested_reclaim_keeps_batch", kFlag,
                                              "a nested reclaim leaves the outer batch alone"),
    field<&Rules::hv_targets>("hv_targets", kTargets, "whom Hyper-V's builder names"),
    field<&Rules::hv_format_from>("hv_format_from", kFormatFrom,
                                  "what chooses all-processors and plain or EX"),
    field<&Rules::hv_trim_round_native>("hv_trim_round_native", kFlag,
                                        "trim rounds and ASID transitions go native"),
    field<&Rules::hv_immediate_trim>("hv_immediate_trim", kFlag,
                                     "no remote target: trim at once, natively"),
    field<&Rules::hv_immediate_trim_rewrites_next_trim>(
        "hv_immediate_trim_rewrites_next_trim", kFlag,
        "the immediate trim puts the next periodic round off"),
    field<&Rules::hv_lazy_skip>("hv_lazy_skip", kLazySkip, "in which form lazy CPUs are skipped"),
    field<&Rules::hv_bank_clearing>("hv_bank_clearing", kBankClearing,
                                    "which banks are cleared before a set is filled"),
    field<&Rules::hv_invalid_vp>("hv_invalid_vp", kInvalidVp, "a target with an unknown VP index"),
    field<&Rules::hv_empty_vpset>("hv_empty_vpset", kEmptyVpset, "an EX set of no banks"),
    field<&Rules::hv_empty_live_mask>("hv_empty_live_mask", kEmptyLiveMask,
                                      "a live mask that has run empty"),
    field<&Rules::hv_ex_nobody_returns>("hv_ex_nobody_returns", kFlag,
                                        "an EX call that names nobody is not made"),
    field<&Rules::hv_list_capacity>("hv_list_capacity", kListCapacity,
                                    "how many 16 MiB units a list call takes"),
    field<&Rules::hv_gva_tail>("hv_gva_tail", kGvaTail, "the cursor at a list's last entry"),
    field<&Rules::hv_fallback_restores_irqs>("hv_fallback_restores_irqs", kFlag,
                                             "interrupts on the way out of the plain walk"),
};

}  // namespace

std::span<const RulesField> rules_fields() {
  return kFields;
}

const RulesField* find_rules_field(std::string_view name) {
  for (const RulesField& field : kFields)
    if (field.name == name) return &field;
  return nullptr;
}

std::string set_rules_field(Rules& rules, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos)
    return fmt::format("found '{}', expected FIELD=VALUE", assignment);
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view value = assignment.substr(equals + 1);
  const RulesField* field = find_rules_field(name);
  if (field == nullptr) {
    std::string known;
    for (const RulesField& each : kFields) known += fmt::format(" {}", each.name);
    return fmt::format("found the field '{}', expected one of{}", name, known);
  }
  for (unsigned at = 0; at < field->values.size(); ++at) {
    if (field->values[at] != value) continue;
    field->set(rules, at);
    return {};
  }
  std::string known;
  for (std::string_view each : field->values) known += fmt::format(" {}", each);
  return fmt::format("found {}={}, expected one of{}", name, value, known);
}

}  // namespace hvtlb
