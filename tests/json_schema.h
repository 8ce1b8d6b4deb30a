// As much of JSON Schema (draft 07) as the schemas in docs/schema/ use. No such library is packaged
// for C++ here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hvtlb {

/// What is wrong with `value`, one line each with the place; empty when it is valid. Knows `type`,
/// `properties`, `required`, `additionalProperties`, `items` (one schema), `enum`, `const`,
/// `minimum`, `oneOf` and `$ref` to `#/definitions/NAME`; any other keyword is itself an error, so
/// that nothing is thought to be checked that is not.
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& value);

/// The schema of that file in docs/schema/.
nlohmann::json read_schema(const std::string& name);

}  // namespace hvtlb
