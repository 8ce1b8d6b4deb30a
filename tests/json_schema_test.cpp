// The validator itself: a checker that cannot complain would prove nothing.
#include "json_schema.h"

#include <gtest/gtest.h>

namespace hvtlb {
namespace {

using Json = nlohmann::json;

const Json kSchema = Json::parse(R"({
  "type": "object", "required": ["name"], "additionalProperties": false,
  "properties": {
    "name": {"type": "string"},
    "kind": {"enum": ["a", "b"]},
    "version": {"const": "v1"},
    "counts": {"type": "array", "items": {"$ref": "#/definitions/count"}},
    "any": {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
  },
  "definitions": {"count": {"type": "integer", "minimum": 0}}
})");

std::size_t nr_errors(const char* text) {
  return schema_errors(kSchema, Json::parse(text)).size();
}

TEST(JsonSchema, AcceptsWhatFits) {
  EXPECT_EQ(nr_errors(R"({"name": "x", "kind": "b", "version": "v1", "counts": [0, 7],
                          "any": {"p": "q", "r": null}})"),
            0U);
}

TEST(JsonSchema, RefusesWhatDoesNot) {
  EXPECT_EQ(nr_errors("[]"), 1U);                                 // type
  EXPECT_EQ(nr_errors("{}"), 1U);                                 // required
  EXPECT_EQ(nr_errors(R"({"name": 1})"), 1U);                     // type inside
  EXPECT_EQ(nr_errors(R"({"name": "x", "more": 1})"), 1U);        // additionalProperties: false
  EXPECT_EQ(nr_errors(R"({"name": "x", "kind": "c"})"), 1U);      // enum
  EXPECT_EQ(nr_errors(R"({"name": "x", "version": "v2"})"), 1U);  // const
  EXPECT_EQ(nr_errors(R"({"name": "x", "counts": [1, -1, 1.5]})"), 2U);  // minimum, integer by $ref
  EXPECT_EQ(nr_errors(R"({"name": "x", "any": {"p": 1}})"), 1U);  // additionalProperties: schema
}

TEST(JsonSchema, OneOfWantsExactlyOne) {
  const Json schema = Json::parse(R"({"oneOf": [{"type": "integer"}, {"minimum": 5}]})");
  EXPECT_EQ(schema_errors(schema, Json(3)).size(), 0U);
  EXPECT_EQ(schema_errors(schema, Json(7.5)).size(), 0U);
  EXPECT_EQ(schema_errors(schema, Json(2.5)).size(), 1U) << "neither";
  EXPECT_EQ(schema_errors(schema, Json(7)).size(), 1U) << "both";
}

TEST(JsonSchema, RefusesAKeywordThatItDoesNotKnow) {
  EXPECT_EQ(schema_errors(Json{{"maximum", 3}}, Json(1)).size(), 1U);
}

}  // namespace
}  // namespace hvtlb
