// The backup that a table leaves when it is deleted, and the room that backups have.
#pragma once

#include "engine/catalog/core.h"

namespace postino::engine {

store::Answer<void> check_room_for_backup(const CatalogState& state);

// A number for a backup that is made now, as its ARN ends with.
std::string new_backup_id(const Core& core, const CatalogState& state);

// The table as a backup keeps it: without what is of the moment, and what was told to this table alone.
Table kept_definition(const Table& table);

// How long what is deleted stays restorable; nullopt: it goes at once.
std::optional<base::Milliseconds> kept_after_deletion(const Core& core, const Table& table);

// Makes the items of a table that goes the image of a backup.
void keep_as_backup(const Core& core, const Table& table, base::Milliseconds kept, CatalogState& state,
                    CommitEntry& entry);

}  // namespace postino::engine
