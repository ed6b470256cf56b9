#include "partiql/source.h"

#include <algorithm>

#include "base/check.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

KeyAttribute attribute_of(const store::TableDescription& table, const std::string& name) {
  const auto found = std::ranges::find(table.attribute_definitions, name, &store::AttributeDefinition::name);
  CHECK(found != table.attribute_definitions.end());
  return {name, found->type};
}

KeyAttributes key_of(const store::TableDescription& table, const store::KeySchema& schema) {
  KeyAttributes key;
  for (const store::KeyElement& element : schema) {
    if (element.role == store::KeyRole::hash)
      key.hash = attribute_of(table, element.name);
    else
      key.range = attribute_of(table, element.name);
  }
  return key;
}

bool has_single_attributes(const store::KeySchema& schema) {
  const auto hashes = std::ranges::count(schema, store::KeyRole::hash, &store::KeyElement::role);
  return hashes == 1 && schema.size() <= 2;
}

const store::IndexDescription* find_index(const std::vector<store::IndexDescription>& indexes,
                                          const std::string& name) {
  const auto found = std::ranges::find(indexes, name, &store::IndexDescription::name);
  return found == indexes.end() ? nullptr : &*found;
}

}  // namespace

bool Source::carries(std::string_view attribute) const {
  return carries_all || std::ranges::binary_search(carried, attribute);
}

std::string table_name_of(const TableReference& reference) {
  constexpr std::string_view mark = ":table/";
  const std::size_t place = reference.table.find(mark);
  if (!reference.table.starts_with("arn:") || place == std::string::npos) return reference.table;
  return reference.table.substr(place + mark.size());
}

std::vector<const KeyAttribute*> KeyAttributes::all() const {
  std::vector<const KeyAttribute*> attributes = {&hash};
  if (range) attributes.push_back(&*range);
  return attributes;
}

store::Answer<store::TableDescription> find_table(store::Store& store, const TableReference& reference) {
  store::Answer<store::TableDescription> table = store.describe_table(table_name_of(reference));
  // A name that no table can have is a table that is not there.
  if (!table && (table.error().type == store::ErrorType::resource_not_found ||
                 table.error().type == store::ErrorType::validation))
    return store::refuse(store::ErrorType::resource_not_found, std::string(no_such_resource));
  return table;
}

Source table_source(const store::TableDescription& table, const TableReference& reference) {
  Source source;
  source.table_name = table.name;
  source.shown_name = reference.table;
  source.key = key_of(table, table.key_schema);
  return source;
}

store::Answer<Source> index_source(const store::TableDescription& table, const TableReference& reference) {
  const store::IndexDescription* global = find_index(table.global_indexes, *reference.index);
  const store::IndexDescription* index = global != nullptr ? global : find_index(table.local_indexes, *reference.index);
  if (index == nullptr) return store::refuse_invalid("The table does not have the specified index");
  if (!has_single_attributes(index->key_schema))
    return store::refuse_invalid(
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE "
        "keys.");
  Source source = table_source(table, reference);
  source.index_name = index->name;
  source.global = global != nullptr;
  source.key = key_of(table, index->key_schema);
  source.carries_all = index->projection == store::ProjectionType::all;
  if (source.carries_all) return source;
  source.carried = index->non_key_attributes;
  for (const store::KeySchema* schema : {&table.key_schema, &index->key_schema})
    for (const store::KeyElement& element : *schema) source.carried.push_back(element.name);
  std::ranges::sort(source.carried);
  return source;
}

}  // namespace postino::partiql
