// What an UpdateTable request must satisfy whatever the table looks like. Pure; the first broken rule is reported.
#pragma once

#include <string>

#include "store/error.h"
#include "store/table_operations.h"

namespace postino::engine {

store::Answer<void> check_update_table(const store::UpdateTableRequest& request);

// The index an update is about.
const std::string& index_name_of(const store::GlobalIndexUpdate& update);
// Creations and deletions of indexes in the request.
std::size_t count_index_changes(const store::UpdateTableRequest& request);

}  // namespace postino::engine
