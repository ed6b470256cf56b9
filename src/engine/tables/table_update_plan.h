// What an UpdateTable request makes of a table.
#pragma once

#include "engine/catalog/core.h"
#include "engine/tables/index_update.h"
#include "store/table_operations.h"

namespace postino::engine {

// The table afterwards, apart from its stream and the id of a new index.
struct UpdatePlan {
  Table after;
  IndexChanges indexes;
};

// Pure. Fails when the table does not allow the change. `now` is when the change was asked for.
store::Answer<UpdatePlan> plan_update(const Options& options, const Table& before,
                                      const store::UpdateTableRequest& request, base::TimePoint now);

// Puts `after` in the place of the table, with the new index and the stream that the request asks for. For
// Core::change_catalog, whose arguments the last two are. A new index has to be filled, unless the table is empty.
store::Answer<void> commit_update(Core& core, const store::UpdateTableRequest& request, const IndexChanges& indexes,
                                  Table& after, CatalogState& state, CommitEntry& entry);

}  // namespace postino::engine
