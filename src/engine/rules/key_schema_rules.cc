#include "engine/rules/key_schema_rules.h"

#include <algorithm>
#include <set>

namespace postino::engine {

namespace {

constexpr std::string_view same_name =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";
constexpr std::string_view first_not_hash = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";

bool names_repeat(const store::KeySchema& schema) {
  std::set<std::string_view> names;
  return !std::ranges::all_of(schema, [&](const auto& element) { return names.insert(element.name).second; });
}

std::size_t count_of(const store::KeySchema& schema, store::KeyRole role) {
  return static_cast<std::size_t>(std::ranges::count(schema, role, &store::KeyElement::role));
}

}  // namespace

const store::AttributeDefinition* find_definition(const std::vector<store::AttributeDefinition>& definitions,
                                                  std::string_view name) {
  const auto found = std::ranges::find(definitions, name, &store::AttributeDefinition::name);
  return found == definitions.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const store::KeySchema& schema) {
  std::vector<std::string> names;
  for (const store::KeyElement& element : schema) names.push_back(element.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<store::AttributeDefinition>& definitions) {
  std::vector<std::string> names;
  for (const store::AttributeDefinition& definition : definitions) names.push_back(definition.name);
  return names;
}

std::string key_schema_text(const store::KeySchema& schema) {
  std::vector<std::string> elements;
  for (const store::KeyElement& element : schema)
    elements.push_back("KeySchemaElement(attributeName=" + element.name +
                       ", keyType=" + (element.role == store::KeyRole::hash ? "HASH" : "RANGE") + ")");
  return store::list_text(elements);
}

void constrain_definitions(store::Constraints& constraints,
                           const std::vector<store::AttributeDefinition>& definitions) {
  constexpr std::size_t max_length = 255;
  for (std::size_t i = 0; i < definitions.size(); ++i)
    constraints.check_length("attributeDefinitions." + std::to_string(i + 1) + ".member.attributeName",
                             definitions[i].name, 1, max_length);
}

store::Answer<void> check_defined(const store::KeySchema& schema,
                                  const std::vector<store::AttributeDefinition>& definitions) {
  for (const store::KeyElement& element : schema)
    if (find_definition(definitions, element.name) == nullptr)
      return store::refuse_parameter("Some index key attributes are not defined in AttributeDefinitions. Keys: " +
                                     store::list_text(names_of(schema)) +
                                     ", AttributeDefinitions: " + store::list_text(names_of(definitions)));
  return {};
}

store::Answer<void> check_distinct_names(const store::KeySchema& schema, bool simple) {
  if (!names_repeat(schema)) return {};
  const bool one_of_each = schema.size() == 2 && count_of(schema, store::KeyRole::hash) == 1;
  return store::refuse_invalid(simple || one_of_each
                                   ? std::string(same_name)
                                   : "The KeySchema contains multiple key attributes with the same name");
}

store::Answer<void> check_simple_keys(const store::KeySchema& schema) {
  TRY_VOID(check_distinct_names(schema, true));
  if (schema.front().role != store::KeyRole::hash) return store::refuse_invalid(std::string(first_not_hash));
  if (schema.size() > 1 && schema[1].role != store::KeyRole::range)
    return store::refuse_invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  return {};
}

store::Answer<void> check_global_index_keys(const store::KeySchema& schema) {
  TRY_VOID(check_distinct_names(schema, false));
  if (schema.front().role != store::KeyRole::hash) return store::refuse_invalid(std::string(first_not_hash));
  if (!std::ranges::is_sorted(schema, {}, &store::KeyElement::role))
    return store::refuse_parameter("All HASH key attributes must precede RANGE key attributes in the KeySchema");
  if (count_of(schema, store::KeyRole::hash) > store::max_index_key_parts)
    return store::refuse_parameter("The KeySchema exceeds the maximum allowed number of HASH key attributes");
  if (count_of(schema, store::KeyRole::range) > store::max_index_key_parts)
    return store::refuse_parameter("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  return {};
}

store::Answer<void> check_table_keys(const store::KeySchema& schema,
                                     const std::vector<store::AttributeDefinition>& definitions) {
  if (definitions.size() < schema.size())
    return store::refuse_invalid("Invalid KeySchema: Some index key attribute have no definition");
  TRY_VOID(check_defined(schema, definitions));
  TRY_VOID(check_simple_keys(schema));
  std::set<std::string_view> names;
  for (const store::AttributeDefinition& definition : definitions)
    if (!names.insert(definition.name).second)
      return store::refuse_invalid("Attribute Name is duplicated: " + definition.name);
  return {};
}

}  // namespace postino::engine
