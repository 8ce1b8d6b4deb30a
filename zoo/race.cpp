#include "zoo/race.h"

#include <cassert>
#include <fmt/format.h>

#include "explore/guest_system.h"
#include "explore/search.h"
#include "model/eras.h"
#include "zoo/kvm_preempted.h"

namespace hvtlb::zoo {

explore::LitmusFile race_of(const Entry& entry) {
  assert(entry.kind == Kind::kRace);
  auto result = explore::read_litmus(std::string(entry.scenario), std::string(entry.id));
  assert(std::holds_alternative<explore::LitmusFile>(result));
  return std::get<explore::LitmusFile>(std::move(result));
}

namespace {

using explore::End;
using explore::MemoryModel;

std::string_view name_of(MemoryModel model) {
  return model == MemoryModel::kSc ? "sc" : "tso";
}

explore::LitmusFile corrected_race_of(const Entry& entry) {
  explore::LitmusFile file = race_of(entry);
  file.litmus.host_returns_early = false;
  if (!entry.twin_era.empty()) file.era = entry.twin_era;
  file.set.clear();
  file.litmus.rules = find_era(file.era)->rules;
  if (!entry.twin_set.empty()) {
    file.set.emplace_back(entry.twin_set);
    set_rules_field(file.litmus.rules, file.set.back());
  }
  return file;
}

/// What is explored for an entry: its litmus, or a system of its own where the guest has no part.
class Race {
 public:
  explicit Race(const Entry& entry) {
    if (entry.scenario.empty()) return;  // Z34
    faulty_ = race_of(entry);
    corrected_ = corrected_race_of(entry);
  }

  explore::Verdict explored(MemoryModel model, bool faulty) const {
    explore::Options options;
    options.model = model;
    if (!faulty_) {
      KvmPreempted system(faulty ? EntryReads::kCopy : EntryReads::kExchange);
      return explore::explore(system, options);
    }
    explore::GuestSystem system((faulty ? faulty_ : corrected_)->litmus);
    return explore::explore(system, options);
  }

  explore::Expectation expected(MemoryModel model) const {
    return faulty_ ? faulty_->expected(model) : explore::Expectation{true, Property::kP1};
  }

 private:
  std::optional<explore::LitmusFile> faulty_;
  std::optional<explore::LitmusFile> corrected_;
};

/// What a faulty race shows under both models; empty when it is not what the litmus expects.
std::string shown(const Race& race) {
  std::string text;
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    const explore::Verdict verdict = race.explored(model, true);
    const explore::Expectation& expected = race.expected(model);
    const bool violated = verdict.end == End::kViolation;
    const bool as_expected =
        violated ? expected.violates && *expected.violates == verdict.violation->property
                 : verdict.end == End::kExhausted && !expected.violates;
    if (!as_expected) return {};
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} in {} states", name_of(model),
                        violated ? hvtlb::name_of(verdict.violation->property) : "holds",
                        verdict.statistics.states);
  }
  return text;
}

/// What breaks under the corrected rules; empty: they hold in every interleaving.
std::string wrong_with_twin(const Race& race) {
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    const explore::Verdict twin = race.explored(model, false);
    if (twin.end == End::kViolation)
      return fmt::format("{}: {}", name_of(model), to_string(*twin.violation));
    if (twin.end != End::kExhausted) return fmt::format("{}: not exhausted", name_of(model));
  }
  return {};
}

}  // namespace

Outcome run_race(const Entry& entry) {
  const Race race(entry);
  return {shown(race), wrong_with_twin(race)};
}

}  // namespace hvtlb::zoo
