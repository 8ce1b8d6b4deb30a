#include "json_schema.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace hvtlb {
namespace {

using Json = nlohmann::json;

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return false;
}

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  std::vector<std::string> errors;

  void check(const Json& schema, const Json& value, const std::string& place) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) complain(place, "is not allowed");
      return;
    }
    for (const auto& [keyword, argument] : schema.items())
      apply(keyword, argument, schema, value, place);
  }

 private:
  void complain(const std::string& place, const std::string& what) {
    errors.push_back((place.empty() ? "/" : place) + ": " + what);
  }

  void apply(const std::string& keyword, const Json& argument, const Json& schema,
             const Json& value, const std::string& place) {
    if (keyword == "$schema" || keyword == "title" || keyword == "description" ||
        keyword == "definitions")
      return;
    if (keyword == "$ref") {
      const auto pointer = argument.get<std::string>();
      if (!pointer.starts_with("#/definitions/")) return complain(place, "unknown " + pointer);
      check(root_.at(Json::json_pointer(pointer.substr(1))), value, place);
    } else if (keyword == "type") {
      const std::vector<Json> types =
          argument.is_array() ? argument.get<std::vector<Json>>() : std::vector<Json>{argument};
      if (std::none_of(types.begin(), types.end(),
                       [&](const Json& type) { return has_type(value, type); }))
        complain(place, "found " + value.dump() + ", expected " + argument.dump());
    } else if (keyword == "const") {
      if (value != argument) complain(place, "found " + value.dump() + " for " + argument.dump());
    } else if (keyword == "enum") {
      if (std::find(argument.begin(), argument.end(), value) == argument.end())
        complain(place, "found " + value.dump() + ", expected one of " + argument.dump());
    } else if (keyword == "oneOf") {
      const auto fits = std::count_if(argument.begin(), argument.end(), [&](const Json& each) {
        Validator inner(root_);
        inner.check(each, value, place);
        return inner.errors.empty();
      });
      if (fits != 1) complain(place, "fits " + std::to_string(fits) + " of the alternatives");
    } else if (keyword == "minimum") {
      if (value.is_number() && value < argument)
        complain(place, value.dump() + " is below " + argument.dump());
    } else if (keyword == "items") {
      if (!value.is_array()) return;
      for (std::size_t at = 0; at < value.size(); ++at)
        check(argument, value[at], place + "/" + std::to_string(at));
    } else if (keyword == "required") {
      if (!value.is_object()) return;
      for (const Json& name : argument)
        if (!value.contains(name.get<std::string>())) complain(place, "lacks " + name.dump());
    } else if (keyword == "properties") {
      if (!value.is_object()) return;
      for (const auto& [name, property] : argument.items())
        if (value.contains(name)) check(property, value[name], place + "/" + name);
    } else if (keyword == "additionalProperties") {
      if (!value.is_object()) return;
      const Json known = schema.value("properties", Json::object());
      for (const auto& [name, property] : value.items())
        if (!known.contains(name)) check(argument, property, place + "/" + name);
    } else {
      complain(place, "the schema's keyword " + keyword + " is not known here");
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_errors(const Json& schema, const Json& value) {
  Validator validator(schema);
  validator.check(schema, value, "");
  return std::move(validator.errors);
}

Json read_schema(const std::string& name) {
  std::ifstream file(std::string(HVTLB_SOURCE_DIR) + "/docs/schema/" + name);
  if (!file) throw std::runtime_error("no such schema: " + name);
  return Json::parse(file);
}

}  // namespace hvtlb
