// Adding, changing and removing the global indexes of a table that exists. Pure: works on a copy of the table.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog/table.h"
#include "store/error.h"

namespace postino::engine {

struct IndexChanges {
  std::optional<std::string> created;  // the table's last index, without an id yet
  std::optional<Index> removed;
};

// Carries out the index updates of a request on `table`, whose billing mode is already the requested one, and keeps
// its attribute definitions to those that are keys of something.
store::Answer<IndexChanges> update_indexes(Table& table, const store::UpdateTableRequest& request, base::TimePoint now);

}  // namespace postino::engine
