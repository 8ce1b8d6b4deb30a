#include "zoo/race.h"

#include <cassert>
#include <fmt/format.h>

#include "explore/guest_system.h"
#include "explore/search.h"
#include "model/eras.h"

namespace hvtlb::zoo {
namespace {

using explore::End;
using explore::MemoryModel;

explore::Verdict explored(const explore::LitmusFile& file, MemoryModel model) {
  explore::GuestSystem system(file.litmus);
  explore::Options options;
  options.model = model;
  return explore::explore(system, options);
}

std::string_view name_of(MemoryModel model) {
  return model == MemoryModel::kSc ? "sc" : "tso";
}

}  // namespace

explore::LitmusFile race_of(const Entry& entry) {
  assert(entry.kind == Kind::kRace);
  auto result = explore::read_litmus(std::string(entry.scenario), std::string(entry.id));
  assert(std::holds_alternative<explore::LitmusFile>(result));
  return std::get<explore::LitmusFile>(std::move(result));
}

explore::LitmusFile corrected_race_of(const Entry& entry) {
  explore::LitmusFile file = race_of(entry);
  file.litmus.host_returns_early = false;
  if (!entry.twin_era.empty()) {
    file.era = entry.twin_era;
    file.set.clear();
    file.litmus.rules = find_era(entry.twin_era)->rules;
  }
  return file;
}

Outcome run_race(const Entry& entry) {
  Outcome outcome;
  bool as_expected = true;
  const explore::LitmusFile faulty = race_of(entry);
  const explore::LitmusFile corrected = corrected_race_of(entry);
  for (const MemoryModel model : {MemoryModel::kSc, MemoryModel::kTso}) {
    const explore::Verdict verdict = explored(faulty, model);
    const explore::Expectation& expected = faulty.expected(model);
    const bool violated = verdict.end == End::kViolation;
    as_expected &= violated ? expected.violates && *expected.violates == verdict.violation->property
                            : verdict.end == End::kExhausted && !expected.violates;
    if (!outcome.variant.empty()) outcome.variant += ", ";
    outcome.variant += fmt::format("{} {} in {} states", name_of(model),
                                   violated ? hvtlb::name_of(verdict.violation->property) : "holds",
                                   verdict.statistics.states);
    const explore::Verdict twin = explored(corrected, model);
    if (twin.end == End::kViolation)
      outcome.twin = fmt::format("{}: {}", name_of(model), to_string(*twin.violation));
    else if (twin.end != End::kExhausted)
      outcome.twin = fmt::format("{}: not exhausted", name_of(model));
  }
  if (!as_expected) outcome.variant.clear();
  return outcome;
}

}  // namespace hvtlb::zoo
