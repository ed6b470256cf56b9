// The definition of a table that is restored from another one.
#pragma once

#include "engine/catalog/table.h"
#include "store/error.h"
#include "store/table_operations.h"

namespace postino::engine {

// Keys, indexes, billing and encryption of the source, unless they are overridden; nothing else of it. Refuses indexes
// that the source has not. Whether the rest is a good definition is for check_create_table to say. Pure.
store::Answer<store::CreateTableRequest> restored_definition(const Table& source, const std::string& target,
                                                             const store::RestoreOverrides& overrides);

}  // namespace postino::engine
