#include "scenario/yaml_text.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "scenario/second_document.h"

namespace hvtlb {

Mark mark_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {1, 1};  // an empty file
  return {static_cast<u32>(mark.line + 1), static_cast<u32>(mark.column + 1)};
}

[[noreturn]] void refuse(const YAML::Node& node, std::string_view expected) {
  std::string found;
  switch (node.Type()) {
    case YAML::NodeType::Scalar: found = fmt::format("'{}'", shown_text(node.Scalar())); break;
    case YAML::NodeType::Sequence: found = "a list"; break;
    case YAML::NodeType::Map: found = "a mapping"; break;
    default: found = "nothing"; break;
  }
  throw StepTextError{mark_of(node), fmt::format("found {}, expected {}", found, expected)};
}
[[noreturn]] void unknown_key(const YAML::Node& key, std::string_view known) {
  throw StepTextError{mark_of(key), fmt::format("found the key '{}', expected one of {}",
                                                shown_text(key.Scalar()), known)};
}

std::string text_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) refuse(node, what);
  return node.Scalar();
}

u64 number_of(const YAML::Node& node, u64 least, u64 most, std::string_view what) {
  if (!node.IsScalar()) refuse(node, what);
  const u64 value = parse_count(node.Scalar(), mark_of(node), most, what);
  if (value < least) refuse(node, fmt::format("{} of at least {}", what, least));
  return value;
}

bool flag_of(const YAML::Node& node) {
  if (node.IsScalar() && node.Scalar() == "true") return true;
  if (node.IsScalar() && node.Scalar() == "false") return false;
  refuse(node, "true or false");
}
YAML::Node load_document(const std::string& text) {
  if (text.size() > kMaxScenarioBytes)
    throw StepTextError{
        {1, 1}, fmt::format("found {} bytes, expected at most {}", text.size(), kMaxScenarioBytes)};
  YAML::Node root = YAML::Load(text);
  if (root.IsMap())
    if (const auto second = second_document(text))
      throw StepTextError{*second, "found a second document, expected one"};
  return root;
}

ScenarioResult<std::string> read_text_file(const std::string& path) {
  std::ifstream opened;
  if (path != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      return ScenarioError{path, {0, 0}, "is a directory, expected a file"};
    opened.open(path, std::ios::binary);
    if (!opened) return ScenarioError{path, {0, 0}, "cannot be opened"};
  }
  std::istream& in = path == "-" ? std::cin : opened;
  std::string text(kMaxScenarioBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return ScenarioError{path, {0, 0}, "cannot be read"};
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace hvtlb
