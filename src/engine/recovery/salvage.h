// The two halves of a repair: getting out of a damaged store what can be read, and making a whole store of it.
#pragma once

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/recovery/findings.h"
#include "engine/storage/database.h"
#include "store/table_setup.h"

namespace postino::engine {

// Copies records of the catalog, items, change records, tokens and undo records from the files of a damaged store,
// which is not changed: the newest version of each that a table file or a log holds. `directory` is the data directory;
// `scratch` is made, and the caller removes it. Adds what is lost, and files that are missing.
base::Result<void> salvage_records(const std::filesystem::path& directory, const std::filesystem::path& scratch,
                                   Database& target, Findings& lost);

// Removes what cannot be read or belongs to nothing, and makes indexes, expiry entries and counts from the items. A
// table whose record is lost gets a new one, if its items show what its key is: that of the known table which has this
// key and is not there, or else one with a name of its own. If anything is lost, what tables were cannot be known
// exactly any more: they begin anew to be restorable, and those that were being restored go.
base::Result<void> rebuild_contents(Database& database, const std::vector<store::TableSetup>& known,
                                    base::TimePoint now, Findings& lost);

}  // namespace postino::engine
