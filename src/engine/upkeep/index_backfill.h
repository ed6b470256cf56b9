// Fills new indexes, and the expiry entries of a new time to live, with the items that were there before.
//
// It goes over the table in key order, a chunk at a time. A chunk, and how far it got, are one commit; writers leave
// keys beyond that to it. So every item is taken exactly once, and a crash loses nothing.
#pragma once

#include "engine/catalog/core.h"

namespace postino::engine {

// One chunk of every unfinished backfill. True when there is more to do right away. One thread at a time.
store::Answer<bool> run_index_backfill_once(Core& core);

}  // namespace postino::engine
