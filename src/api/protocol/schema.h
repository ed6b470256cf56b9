// What a value of a request or an answer is like, as JSON Schema has it: type, limits, description.
//
// The OpenAPI document is written from these. The command line takes the descriptions and limits of its options from
// them, and the names of the fields that it sends and reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"

namespace postino::api {

struct Property;

// Members that are empty say nothing.
struct Schema {
  std::string_view reference;  // the name of a schema in schemas.h, which says all but the description
  std::string_view type;       // "string", "integer", "boolean", "array" or "object"; empty: any
  bool nullable = false;       // null besides
  std::string description;
  std::string_view format;            // of a string: "date-time", "uuid"
  std::string_view content_encoding;  // of a string: "base64"
  std::string_view pattern;           // of a string: a regular expression
  std::vector<std::string> choices;   // of a string: the only values
  // The least and the greatest integer; of a string its length, of an array and an object how many they hold. We limit
  // strings by their bytes in UTF-8, of which there are at least as many as characters, which JSON Schema counts.
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;
  std::string default_value;  // JSON
  std::string example;        // JSON
  // Of an object.
  std::vector<Property> properties;
  std::vector<std::string_view> one_required;  // at least one of these properties
  bool closed = false;                         // no other properties
  // None or one: what each element of an array, or each property of an object that is not named above, is like.
  std::vector<Schema> elements;
  std::vector<Schema> alternatives;  // it is like one of these at least
  std::vector<Schema> parts;         // and like all of these
};

// Patterns of strings.
inline constexpr std::string_view without_control_characters =
    R"(^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$)";  // as base::has_control_character() has them
inline constexpr std::string_view of_printable_ascii = "^[ -~]*$";

// A constant of the code, as a limit of a schema.
constexpr std::int64_t limit_of(std::size_t count) { return static_cast<std::int64_t>(count); }

enum class Presence { optional, required };

struct Property {
  std::string_view name;
  Schema schema;
  Presence presence = Presence::optional;
};

// As JSON, for the OpenAPI document.
void write_schema(json::Writer& json, const Schema& schema);

// The schema itself, or the one that it refers to.
const Schema& resolved(const Schema& schema);

// A property by its path: "status", "settings.batchSize", "messages[].body". nullptr when there is none.
const Schema* find_property(const Schema& schema, std::string_view path);

}  // namespace postino::api
