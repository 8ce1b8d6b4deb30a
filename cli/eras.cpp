// `hvtlb eras`: the table of eras and their rules, and the differences between any two.
#include "model/eras.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/json_lines.h"
#include "cli/rules_option.h"
#include "scenario/shown_text.h"

namespace hvtlb::cli {
namespace {

struct ErasArguments {
  std::vector<std::string> names;
  bool json = false;
};

Json rules_json(const Rules& rules) {
  Json json = Json::object();
  for (const RulesField& field : rules_fields()) {
    if (field.values.front() == "false")
      json[std::string(field.name)] = field.get(rules) != 0;
    else
      json[std::string(field.name)] = field.value_of(rules);
  }
  return json;
}

Json era_json(const Era& era) {
  Json faults = Json::array();
  for (const KnownFault& fault : era.known_faults)
    faults.push_back({{"property", fault.property},
                      {"zoo", fault.zoo},
                      {"trigger", fault.trigger},
                      {"needs_interleaving", fault.interleaving}});
  return {{"name", era.name},
          {"kernels", era.kernels},
          {"rules", rules_json(era.rules)},
          {"known_faults", std::move(faults)}};
}

/// Whether any two eras differ in the field; the others are for the bug zoo.
bool is_history(const RulesField& field) {
  return std::any_of(eras().begin(), eras().end(), [&](const Era& era) {
    return field.get(era.rules) != field.get(eras().front().rules);
  });
}

void print_eras(const std::vector<const Era*>& shown) {
  std::size_t widest = 0;
  for (const RulesField& field : rules_fields()) widest = std::max(widest, field.name.size());
  const std::size_t column = 17;
  for (std::size_t first = 0; first < shown.size(); first += 4) {
    const std::size_t last = std::min(first + 4, shown.size());
    std::string line = fmt::format("{:{}}", "", widest);
    for (std::size_t at = first; at < last; ++at)
      line += fmt::format("  {:{}}", shown[at]->name, column);
    fmt::print("{}\n", line);
    for (const RulesField& field : rules_fields()) {
      if (!is_history(field)) continue;
      line = fmt::format("{:{}}", field.name, widest);
      for (std::size_t at = first; at < last; ++at)
        line += fmt::format("  {:{}}", field.value_of(shown[at]->rules), column);
      line.erase(line.find_last_not_of(' ') + 1);
      fmt::print("{}\n", line);
    }
    fmt::print("\n");
  }
  fmt::print("The fields:\n");
  for (const RulesField& field : rules_fields())
    if (is_history(field)) fmt::print("  {:{}}  {}\n", field.name, widest, field.about);
  fmt::print("\nThe same in every era, to be changed by --set or by the zoo:\n");
  for (const RulesField& field : rules_fields())
    if (!is_history(field))
      fmt::print("  {:{}}  {} ({})\n", field.name, widest, field.about,
                 field.value_of(eras().front().rules));
  fmt::print("\nKernels and known faults:\n");
  for (const Era* era : shown) {
    fmt::print("  {:10} {}\n", era->name, era->kernels);
    for (const KnownFault& fault : era->known_faults)
      fmt::print("             {} {}: {}{}\n", fault.zoo, fault.property, fault.trigger,
                 fault.interleaving ? " [needs an interleaving]" : "");
  }
}

/// Two eras side by side, only the fields that differ.
int print_difference(const Era& a, const Era& b, bool json) {
  Json fields = Json::object();
  for (const RulesField& field : rules_fields())
    if (field.get(a.rules) != field.get(b.rules))
      fields[std::string(field.name)] = {field.value_of(a.rules), field.value_of(b.rules)};
  if (json) {
    const Json answer{
        {"schema", "hvtlb-eras-1"}, {"eras", {era_json(a), era_json(b)}}, {"differences", fields}};
    fmt::print("{}\n", answer.dump(2));
    return kExitHolds;
  }
  if (fields.empty()) fmt::print("{} and {} follow the same rules\n", a.name, b.name);
  for (const RulesField& field : rules_fields())
    if (fields.contains(field.name))
      fmt::print("{:38} {:18} {:18} {}\n", field.name, field.value_of(a.rules),
                 field.value_of(b.rules), field.about);
  return kExitHolds;
}

int run_eras(const ErasArguments& options) {
  if (const auto twice = named_twice(options.names)) {
    fmt::print(stderr, "hvtlb eras: found the era '{}' twice\n", shown_text(*twice));
    return kExitUsage;
  }
  std::vector<const Era*> shown;
  for (const std::string& name : options.names) {
    const Era* era = find_era(name);
    if (era == nullptr) {
      fmt::print(stderr, "hvtlb eras: {}\n", unknown_era(name));
      return kExitUsage;
    }
    shown.push_back(era);
  }
  if (shown.size() == 2) return print_difference(*shown[0], *shown[1], options.json);
  if (shown.empty())
    for (const Era& era : eras()) shown.push_back(&era);
  if (options.json) {
    Json list = Json::array();
    for (const Era* era : shown) list.push_back(era_json(*era));
    fmt::print("{}\n", Json{{"schema", "hvtlb-eras-1"}, {"eras", list}}.dump(2));
    return kExitHolds;
  }
  print_eras(shown);
  return kExitHolds;
}

}  // namespace

Command make_eras(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("eras", "The table of eras and their rules");
  auto options = std::make_shared<ErasArguments>();
  sub->add_option("ERA", options->names, "only these; two: only what differs")->expected(0, 64);
  sub->add_flag("--json", options->json, "one JSON object (docs/schema/eras.json)");
  sub->footer("Example: hvtlb eras v6.17.5 filtered");
  return {sub, [options] { return run_eras(*options); }};
}

}  // namespace hvtlb::cli
