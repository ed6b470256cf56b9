// The outbox's storage on MySQL or MariaDB.
#pragma once

#include "app/server/outbox_storage.h"

namespace postino::app {

// Prepares an empty database, or any when the settings allow it; fails otherwise when the tables are not those of this
// program, and names the command that makes them so.
base::Result<std::unique_ptr<OutboxStorage>> open_mysql_storage(const OutboxSettings& settings,
                                                                const StorageContext& context);

}  // namespace postino::app
