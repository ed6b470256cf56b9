// The rules for key schemas and the attribute definitions they refer to. Pure: requests in, refusals out.
#pragma once

#include <string>
#include <vector>

#include "store/constraints.h"
#include "store/error.h"
#include "store/table.h"

namespace postino::engine {

// nullptr when there is no definition of this name.
const store::AttributeDefinition* find_definition(const std::vector<store::AttributeDefinition>& definitions,
                                                  std::string_view name);
std::vector<std::string> names_of(const store::KeySchema& schema);
std::vector<std::string> names_of(const std::vector<store::AttributeDefinition>& definitions);

// As DynamoDB prints it: "[KeySchemaElement(attributeName=pk, keyType=HASH)]".
std::string key_schema_text(const store::KeySchema& schema);

// How long names in definitions may be.
void constrain_definitions(store::Constraints& constraints, const std::vector<store::AttributeDefinition>& definitions);

// Does every element have a definition?
store::Answer<void> check_defined(const store::KeySchema& schema,
                                  const std::vector<store::AttributeDefinition>& definitions);

// No attribute twice. Keys of tables and local indexes are simple.
store::Answer<void> check_distinct_names(const store::KeySchema& schema, bool simple);
// One HASH, possibly one RANGE, under different names: tables and local indexes.
store::Answer<void> check_simple_keys(const store::KeySchema& schema);
// Up to four HASH, then up to four RANGE: global indexes.
store::Answer<void> check_global_index_keys(const store::KeySchema& schema);

// The table's own schema against the definitions.
store::Answer<void> check_table_keys(const store::KeySchema& schema,
                                     const std::vector<store::AttributeDefinition>& definitions);

}  // namespace postino::engine
