// How a new table comes into the catalog.
#pragma once

#include "engine/catalog/core.h"
#include "store/error.h"

namespace postino::engine {

// Is there room for one more?
store::Answer<void> check_room_for_table(const CatalogState& state);

// Gives the table and its indexes their ids, opens its stream if it is to have one, and puts it into the catalog. For
// Core::change_catalog.
void commit_creation(Core& core, const std::optional<store::StreamSpecification>& stream, Table& table,
                     CatalogState& state, CommitEntry& entry);

}  // namespace postino::engine
