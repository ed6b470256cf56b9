// Does everything in a store fit together? Items against their indexes and the reverse, expiry, streams, tokens, counts
// and the catalog.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "engine/recovery/findings.h"
#include "engine/recovery/offline_database.h"

namespace postino::engine {

// Adds what it finds, and calls `each`, if it is not empty, with every item. Fails when something cannot be read at
// all.
base::Result<void> check_contents(const OfflineDatabase& database, base::TimePoint now, const EachItem& each,
                                  Findings& problems, StoreCounts& counts);

}  // namespace postino::engine
