// Whether a YAML text holds more than one document.
#pragma once

#include "scenario/scenario.h"

namespace hvtlb {

/// Where the text goes on behind its first document, if it does: yaml-cpp's Load() leaves the rest
/// unread without a word, and its LoadAll() finds documents without end in some texts. Throws
/// YAML::Exception for a text that is no YAML.
std::optional<Mark> second_document(const std::string& text);

}  // namespace hvtlb
