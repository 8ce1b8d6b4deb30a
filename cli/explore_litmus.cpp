#include "cli/explore_litmus.h"

#include <fmt/format.h>

namespace hvtlb::cli {

using namespace hvtlb::explore;

ScenarioResult<LitmusInput> litmus_from(const std::string& source, const std::string& name) {
  auto file = read_litmus(source, name);
  if (const auto* error = std::get_if<ScenarioError>(&file)) return *error;
  return LitmusInput{std::get<LitmusFile>(std::move(file)), source};
}

std::string_view name_of(MemoryModel model) {
  return model == MemoryModel::kSc ? "sc" : "tso";
}

bool is_bounded(const Verdict& verdict) {
  return verdict.end >= End::kStopped;
}

bool as_expected(const Searched& searched) {
  const Verdict& verdict = searched.result.verdict;
  const Expectation& expected = searched.litmus.file.expected(searched.model);
  if (verdict.end == End::kExhausted) return !expected.violates || searched.shard;
  return verdict.end == End::kViolation && expected.violates &&
         verdict.violation->property == *expected.violates;
}

std::string measured_text(const Measured& measured) {
  std::string text;
  const auto add = [&](std::string_view what, u32 count, std::string_view property) {
    if (count == 0) return;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", what, count, property);
  };
  add("lazy CPUs reached", measured.lazy_reached, "P5");
  add("CPUs reached on another mm", measured.stale_reached, "P5");
  add("CPUs that only ALL_PROCESSORS names", measured.swept_in, "P5");
  add("bits left by a trim round", measured.left_in_mask, "P6");
  return text.empty() ? text : fmt::format("       at most, at one moment: {}\n", text);
}

std::string verdict_text(const Verdict& verdict) {
  switch (verdict.end) {
    case End::kExhausted: return "holds, exhausted";
    case End::kViolation:
      return fmt::format("VIOLATES {}", hvtlb::name_of(verdict.violation->property));
    case End::kStuck: return "STUCK: programs wait for each other";
    case End::kStopped: return "bounded: stopped";
    case End::kMemory: return "bounded: the memory limit is reached";
    case End::kDepth: return "bounded: a schedule is too long";
  }
  return {};
}

std::string why_text(const Violation& violation, const std::vector<std::string>& mm_names) {
  const bool about_page = violation.property <= Property::kP3;
  const std::string mm =
      violation.mm < mm_names.size() ? mm_names[violation.mm] : fmt::format("mm {}", violation.mm);
  return fmt::format("{} ({}) is broken on CPU {}, {}{}: {}", hvtlb::name_of(violation.property),
                     meaning_of(violation.property), violation.cpu, mm,
                     about_page ? fmt::format(", page {:#x}", violation.va & kPageMask) : "",
                     violation.why);
}

void print_head(const LitmusFile& file) {
  std::string rules = file.era;
  for (const std::string& each : file.set) rules += ", " + each;
  fmt::print("{}\n  {}\n  rules: {}; {}\n", file.litmus.name, file.litmus.about, rules,
             file.litmus.machine.hyperv ? "Hyper-V" : "native");
  for (Cpu cpu = 0; cpu < file.programs.size(); ++cpu)
    fmt::print("  CPU {}: {}\n", cpu, file.programs[cpu].empty() ? "-" : file.programs[cpu]);
}

void print_steps(const std::vector<KnownStep>& missing, bool list, bool cut_short) {
  fmt::print("Steps of the guest's routines reached: {} of {}{}\n",
             known_steps().size() - missing.size(), known_steps().size(),
             cut_short ? " (a search ended early)" : "");
  if (!list) return;
  for (const KnownStep& step : missing)
    fmt::print("  not reached: {}:{} {}()\n", step.file, step.line, step.routine);
}

}  // namespace hvtlb::cli
