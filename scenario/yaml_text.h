// What the readers of YAML files share: places, refusals, and values of the simple kinds. A refusal
// is a StepTextError; it does not leave the reading functions.
#pragma once

#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <yaml-cpp/yaml.h>

#include "scenario/scenario.h"
#include "scenario/shown_text.h"
#include "scenario/step_text.h"

namespace hvtlb {

Mark mark_of(const YAML::Node& node);

/// Says what was found there and what was expected.
[[noreturn]] void refuse(const YAML::Node& node, std::string_view expected);
[[noreturn]] void unknown_key(const YAML::Node& key, std::string_view known);

/// The text as it was read, to find the place of a word inside a scalar.
class Source {
 public:
  explicit Source(const std::string& text) : text_(text) {}

  /// Calls `parser(scalar's text, its place)`. A refusal names the place of the word, or that of
  /// the scalar where the file holds other characters than the scalar (escapes, folded lines,
  /// aliases).
  template <class Parse>
  auto parse(const YAML::Node& node, Parse parser) const {
    const auto begin = begin_of(node);
    try {
      return parser(std::string_view(node.Scalar()), begin.value_or(mark_of(node)));
    } catch (StepTextError& error) {
      if (!begin) error.at = mark_of(node);
      throw;
    }
  }

  /// Where the scalar's text begins, if it stands in the file as it is.
  std::optional<Mark> begin_of(const YAML::Node& node) const {
    const YAML::Mark mark = node.Mark();
    if (mark.is_null() || mark.pos < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at >= text_.size()) return std::nullopt;
    const bool quoted = text_[at] == '"' || text_[at] == '\'';
    const std::string& scalar = node.Scalar();
    if (text_.compare(at + quoted, scalar.size(), scalar) != 0) return std::nullopt;
    Mark begin = mark_of(node);
    begin.column += quoted;
    return begin;
  }

 private:
  const std::string& text_;
};

/// Calls `visit(key, key node, value)` for every entry; refuses doubled keys.
template <class Visit>
void for_each_key(const YAML::Node& map, std::string_view what, Visit visit) {
  if (!map.IsMap()) refuse(map, what);
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) refuse(entry.first, "a key");
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      throw StepTextError{mark_of(entry.first), fmt::format("found '{}' twice", shown_text(key))};
    visit(key, entry.first, entry.second);
  }
}

std::string text_of(const YAML::Node& node, std::string_view what);
u64 number_of(const YAML::Node& node, u64 least, u64 most, std::string_view what);
bool flag_of(const YAML::Node& node);

/// The one document of a text. Refuses texts that are too long and second documents.
YAML::Node load_document(const std::string& text);

/// A file's text, `-` for standard input; at most one byte more than a scenario may have.
ScenarioResult<std::string> read_text_file(const std::string& path);

/// Calls `read`, and makes a refusal or what yaml-cpp throws a ScenarioError.
template <class Read>
auto reading(const std::string& file, Read read) -> ScenarioResult<decltype(read())> {
  try {
    return read();
  } catch (const StepTextError& error) {
    return ScenarioError{file, error.at, error.what};
  } catch (const YAML::Exception& error) {
    const Mark at{static_cast<u32>(error.mark.line + 1), static_cast<u32>(error.mark.column + 1)};
    return ScenarioError{file, at, fmt::format("found no YAML: {}", escaped_text(error.msg))};
  }
}

}  // namespace hvtlb
