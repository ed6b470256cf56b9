// The rules for secondary indexes in their definitions. Pure: requests in, refusals out.
#pragma once

#include "store/constraints.h"
#include "store/table_operations.h"

namespace postino::engine {

inline constexpr std::size_t max_non_key_attributes = 20;     // of one index
inline constexpr std::size_t max_projected_attributes = 100;  // of all indexes of a table together

// Shapes: names, lengths of lists. `path` leads to the index definition.
void constrain(store::Constraints& constraints, const std::string& path, const store::LocalIndexDefinition& index);
void constrain(store::Constraints& constraints, const std::string& path, const store::GlobalIndexDefinition& index);
void constrain_key_schema(store::Constraints& constraints, const std::string& path, const store::KeySchema& schema);

store::Answer<void> check_projection(const store::IndexProjection& projection);

// The indexes of a new table, against each other and against the table. The keys are known to be defined.
store::Answer<void> check_local_indexes(const store::CreateTableRequest& request);
store::Answer<void> check_global_indexes(const store::CreateTableRequest& request);

// How many attributes all these projections name, for the limit of a table.
store::Answer<void> check_projected_attributes(std::size_t count);

}  // namespace postino::engine
