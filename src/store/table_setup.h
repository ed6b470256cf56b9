// Makes the tables that a service needs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace postino::store {

// A table that is paid for by request: a hash key, or a hash and a range key.
CreateTableRequest table_request(std::string name, const std::vector<AttributeDefinition>& keys);

// Makes the table unless it is there, and lets its items expire by the attribute `expiry`, unless that is empty. A
// table that is there is taken as it is, but must have the same keys: invalid otherwise.
base::Result<void> prepare_table(Store& store, const CreateTableRequest& request, const std::string& expiry);

}  // namespace postino::store
