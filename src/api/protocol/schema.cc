#include "api/protocol/schema.h"

#include <algorithm>

#include "api/protocol/schemas.h"
#include "base/check.h"

namespace postino::api {

namespace {

// The names of the limits of a type.
struct LimitNames {
  std::string_view type;
  std::string_view least;
  std::string_view most;
};
constexpr LimitNames limit_names[] = {
    {"string", "minLength", "maxLength"},
    {"integer", "minimum", "maximum"},
    {"array", "minItems", "maxItems"},
    {"object", "minProperties", "maxProperties"},
};

void write_text(json::Writer& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.key(name).string(text);
}

void write_list(json::Writer& json, std::string_view name, const std::vector<Schema>& schemas) {
  if (schemas.empty()) return;
  json.key(name).begin_array();
  for (const Schema& schema : schemas) write_schema(json, schema);
  json.end_array();
}

void write_type(json::Writer& json, const Schema& schema) {
  if (schema.type.empty()) return;
  if (schema.nullable)
    json.key("type").begin_array().string(schema.type).string("null").end_array();
  else
    json.key("type").string(schema.type);
}

void write_limits(json::Writer& json, const Schema& schema) {
  if (!schema.least && !schema.most) return;
  const auto* const names = std::ranges::find(limit_names, schema.type, &LimitNames::type);
  CHECK(names != std::end(limit_names));
  if (schema.least) json.key(names->least).integer(*schema.least);
  if (schema.most) json.key(names->most).integer(*schema.most);
}

void write_choices(json::Writer& json, const Schema& schema) {
  if (schema.choices.empty()) return;
  json.key("enum").begin_array();
  for (const std::string& choice : schema.choices) json.string(choice);
  json.end_array();
}

void write_required(json::Writer& json, const Schema& schema) {
  if (std::ranges::find(schema.properties, Presence::required, &Property::presence) == schema.properties.end()) return;
  json.key("required").begin_array();
  for (const Property& property : schema.properties)
    if (property.presence == Presence::required) json.string(property.name);
  json.end_array();
}

// An object has one list of alternatives: none of ours needs another beside this one.
void write_one_required(json::Writer& json, const Schema& schema) {
  if (schema.one_required.empty()) return;
  json.key("anyOf").begin_array();
  for (const std::string_view name : schema.one_required)
    json.begin_object().key("required").begin_array().string(name).end_array().end_object();
  json.end_array();
}

void write_properties(json::Writer& json, const Schema& schema) {
  write_required(json, schema);
  write_one_required(json, schema);
  if (!schema.properties.empty()) {
    json.key("properties").begin_object();
    for (const Property& property : schema.properties) {
      json.key(property.name);
      write_schema(json, property.schema);
    }
    json.end_object();
  }
  if (schema.closed) json.key("additionalProperties").boolean(false);
  if (schema.elements.empty()) return;
  json.key(schema.type == "array" ? "items" : "additionalProperties");
  write_schema(json, schema.elements.front());
}

const Property* property_named(const Schema& schema, std::string_view name) {
  const Schema& object = resolved(schema);
  const auto found = std::ranges::find(object.properties, name, &Property::name);
  if (found != object.properties.end()) return &*found;
  for (const std::vector<Schema>* const among : {&object.parts, &object.alternatives})
    for (const Schema& each : *among)
      if (const Property* const property = property_named(each, name)) return property;
  return nullptr;
}

}  // namespace

void write_schema(json::Writer& json, const Schema& schema) {
  json.begin_object();
  if (!schema.reference.empty()) json.key("$ref").string(std::string("#/components/schemas/").append(schema.reference));
  write_type(json, schema);
  write_text(json, "description", schema.description);
  write_text(json, "format", schema.format);
  write_text(json, "contentEncoding", schema.content_encoding);
  write_text(json, "pattern", schema.pattern);
  write_choices(json, schema);
  write_limits(json, schema);
  write_properties(json, schema);
  write_list(json, "anyOf", schema.alternatives);
  write_list(json, "allOf", schema.parts);
  if (!schema.default_value.empty()) json.key("default").raw(schema.default_value);
  if (!schema.example.empty()) json.key("examples").begin_array().raw(schema.example).end_array();
  json.end_object();
}

const Schema& resolved(const Schema& schema) {
  return schema.reference.empty() ? schema : resolved(schema_named(schema.reference));
}

const Schema* find_property(const Schema& schema, std::string_view path) {
  constexpr std::string_view brackets = "[]";
  const std::size_t end = std::min(path.find('.'), path.size());
  std::string_view name = path.substr(0, end);
  const bool in_array = name.ends_with(brackets);
  if (in_array) name.remove_suffix(brackets.size());
  const Property* const property = property_named(schema, name);
  if (property == nullptr) return nullptr;
  const Schema* found = &property->schema;
  if (in_array) {
    const Schema& array = resolved(*found);
    if (array.elements.empty()) return nullptr;
    found = &array.elements.front();
  }
  return end == path.size() ? found : find_property(*found, path.substr(end + 1));
}

}  // namespace postino::api
