#include "model/rules.h"

#include <array>
#include <fmt/format.h>

namespace hvtlb {
namespace {

constexpr std::array<std::string_view, 2> kFlag{"false", "true"};
constexpr std::array<std::string_view, 2> kNextBit{"locked_set", "set_if_clear"};
constexpr std::array<std::string_view, 2> kPrevBit{"cleared", "left_behind"};
constexpr std::array<std::string_view, 2> kMarker{"after_gen_read", "before_bits"};
constexpr std::array<std::string_view, 2> kForeignMm{"remote_returns", "clears_own_bit"};
constexpr std::array<std::string_view, 3> kTargets{"whole_mask", "not_lazy", "native_predicate"};
constexpr std::array<std::string_view, 2> kFormatFrom{"mask", "targets"};

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
