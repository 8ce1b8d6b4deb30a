// Litmus files: the YAML of scenarios, with a list of steps for every CPU instead of one sequence,
// and what is expected to come out. docs/explorer.md has the format.
#pragma once

#include <optional>

#include "explore/litmus.h"
#include "explore/memory_model.h"
#include "model/checks.h"
#include "scenario/scenario.h"

namespace hvtlb::explore {

inline constexpr u64 kLitmusVersion = 1;
inline constexpr std::size_t kMaxProgramSteps = 16;  ///< of one CPU

/// What comes out under one memory model: nothing, or the property that breaks first.
struct Expectation {
  bool given = false;
  std::optional<Property> violates;
};

struct LitmusFile {
  Litmus litmus;
  std::string era;
  std::vector<std::string> set;
  std::vector<std::string> processes;  ///< process n is mm n + 1
  std::vector<std::string> programs;   ///< as text, one a CPU
  Expectation sc;
  Expectation tso;

  const Expectation& expected(MemoryModel model) const {
    return model == MemoryModel::kSc ? sc : tso;
  }
};

/// Never throws; a refusal names file, line and column.
ScenarioResult<LitmusFile> read_litmus(const std::string& text, const std::string& file);
ScenarioResult<LitmusFile> read_litmus_file(const std::string& path);

}  // namespace hvtlb::explore
