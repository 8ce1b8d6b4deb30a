// `hvtlb zoo`: the bug zoo. What each entry is, its scenario, and a run that must find it.
#include "zoo/zoo.h"

#include <fmt/format.h>
#include <memory>

#include "cli/command.h"
#include "cli/json_lines.h"
#include "zoo/host_call.h"

namespace hvtlb::cli {
namespace {

using zoo::Entry;

struct ZooArguments {
  std::string id;
  std::vector<std::string> ids;
  bool json = false;
};

std::string_view kind_text(zoo::Kind kind) {
  switch (kind) {
    case zoo::Kind::kGuest: return "scenario";
    case zoo::Kind::kHost: return "host";
    case zoo::Kind::kRace: return "litmus";
  }
  return "";
}

const Entry* find_or_say(const std::string& id) {
  const Entry* entry = zoo::find_entry(id);
  if (entry == nullptr)
    fmt::print(stderr,
               "hvtlb zoo: found the entry '{}', expected one that `hvtlb zoo list` names\n", id);
  return entry;
}

Json entry_json(const Entry& entry) {
  return {{"id", entry.id},
          {"title", entry.title},
          {"about", entry.about},
          {"kind", kind_text(entry.kind)},
          {"sign", zoo::name_of(entry.sign)}};
}

int list(const ZooArguments& options) {
  if (options.json) {
    Json all = Json::array();
    for (const Entry& entry : zoo::entries()) all.push_back(entry_json(entry));
    fmt::print("{}\n", Json{{"schema", "hvtlb-zoo-1"}, {"entries", all}}.dump(2));
    return kExitHolds;
  }
  for (const Entry& entry : zoo::entries())
    fmt::print("{:13} {:10} {}\n", entry.id, zoo::name_of(entry.sign), entry.title);
  return kExitHolds;
}

void show_guest(const Entry& entry) {
  const zoo::Pair pair = zoo::pair_of(entry);
  std::string corrected{entry.twin_era.empty() ? std::string_view(pair.era) : entry.twin_era};
  if (!entry.twin_set.empty()) corrected += fmt::format(" with {}", entry.twin_set);
  if (entry.twin_native) corrected += ", native path";
  std::string faulty = pair.era;
  for (const std::string& each : pair.set) faulty += " with " + each;
  fmt::print("faulty rules:    {}\ncorrected rules: {}\n\n{}", faulty, corrected, entry.scenario);
}

void show_host(const Entry& entry) {
  const zoo::HostCall& call = zoo::host_call_of(entry);
  std::string bytes;
  for (const u64 word : call.input)
    for (u32 byte = 0; byte < 8; ++byte) bytes += fmt::format("{:02x}", word >> (8 * byte) & 0xff);
  const Json line{{"id", entry.id},
                  {"profile", host::name_of(call.profile)},
                  {"control", fmt::format("{:#x}", call.control)},
                  {"input", bytes},
                  {"vps", call.vps},
                  {"self", call.vps.front()}};
  fmt::print("The call, for `hvtlb decode` (which has no fault):\n{}\n", line.dump());
}

int show(const ZooArguments& options) {
  const Entry* entry = find_or_say(options.id);
  if (entry == nullptr) return kExitUsage;
  if (options.json) {
    Json json = entry_json(*entry);
    json["schema"] = "hvtlb-zoo-1";
    if (entry->kind == zoo::Kind::kGuest) json["scenario"] = entry->scenario;
    if (entry->kind == zoo::Kind::kRace) json["litmus"] = entry->scenario;
    fmt::print("{}\n", json.dump(2));
    return kExitHolds;
  }
  fmt::print("{}: {}\n{}\nshows as: {}\n\n", entry->id, entry->title, entry->about,
             zoo::name_of(entry->sign));
  switch (entry->kind) {
    case zoo::Kind::kGuest: show_guest(*entry); break;
    case zoo::Kind::kHost: show_host(*entry); break;
    case zoo::Kind::kRace:
      if (entry->scenario.empty())
        fmt::print("No litmus: a system of its own, zoo/kvm_preempted.cpp.\n");
      else
        fmt::print("{}\n`hvtlb explore {}` prints the interleaving.\n", entry->scenario, entry->id);
      break;
  }
  return kExitHolds;
}

int run_zoo(const ZooArguments& options) {
  std::vector<const Entry*> chosen;
  for (const std::string& id : options.ids) {
    const Entry* entry = find_or_say(id);
    if (entry == nullptr) return kExitUsage;
    chosen.push_back(entry);
  }
  if (chosen.empty())
    for (const Entry& entry : zoo::entries()) chosen.push_back(&entry);
  u32 found = 0;
  u32 missed = 0;
  Json results = Json::array();
  for (const Entry* entry : chosen) {
    Json result{{"id", entry->id}, {"sign", zoo::name_of(entry->sign)}};
    const zoo::Outcome outcome = zoo::run(*entry);
    (outcome.ok() ? found : missed) += 1;
    result["outcome"] = outcome.ok() ? "found" : "missed";
    result["shown"] = outcome.variant;
    std::string text = outcome.variant.empty() ? "NOT FOUND" : outcome.variant;
    if (!outcome.twin.empty()) {
      result["corrected"] = outcome.twin;
      text += "; THE CORRECTED RULES FAIL: " + outcome.twin;
    }
    if (options.json)
      results.push_back(std::move(result));
    else
      fmt::print("{:13} {:10} {}\n", entry->id, zoo::name_of(entry->sign), text);
  }
  if (options.json)
    fmt::print(
        "{}\n",
        Json{{"schema", "hvtlb-zoo-1"}, {"found", found}, {"missed", missed}, {"results", results}}
            .dump(2));
  else
    fmt::print("{} found, {} missed\n", found, missed);
  return missed == 0 ? kExitHolds : kExitViolated;
}

}  // namespace

Command make_zoo(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("zoo", "The bug zoo: known faults, each with what finds it");
  sub->require_subcommand(1);
  auto options = std::make_shared<ZooArguments>();
  CLI::App* list_sub = sub->add_subcommand("list", "All entries");
  CLI::App* show_sub = sub->add_subcommand("show", "One entry: history, rules, scenario");
  show_sub->add_option("ID", options->id, "an entry, for example Z07-plain")->required();
  CLI::App* run_sub = sub->add_subcommand(
      "run", "Runs the scenarios: the fault must show, and must not under the corrected rules");
  run_sub->add_option("ID", options->ids, "only these")->expected(0, 256);
  for (CLI::App* each : {list_sub, show_sub, run_sub})
    each->add_flag("--json", options->json, "one JSON object (docs/schema/zoo.json)");
  sub->footer(
      "Exit codes of run: 0 every fault was found, 3 one was missed or corrected rules failed.\n"
      "Example: hvtlb zoo run Z06");
  return {sub, [options, list_sub, show_sub] {
            if (list_sub->parsed()) return list(*options);
            return show_sub->parsed() ? show(*options) : run_zoo(*options);
          }};
}

}  // namespace hvtlb::cli
