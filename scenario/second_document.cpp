#include "scenario/second_document.h"

#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace hvtlb {
namespace {

/// Takes a document and keeps nothing of it but where it starts.
class DocumentStart final : public YAML::EventHandler {
 public:
  Mark at;

  void OnDocumentStart(const YAML::Mark& mark) override {
    at = {static_cast<u32>(mark.line + 1), static_cast<u32>(mark.column + 1)};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

std::optional<Mark> second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentStart document;
  if (!parser.HandleNextDocument(document) || !parser.HandleNextDocument(document))
    return std::nullopt;
  return document.at;
}

}  // namespace hvtlb
