// Questions about what is in a table.
#pragma once

#include "engine/catalog/core.h"

namespace postino::engine {

// Has the table no item, neither on disk nor on the way there? The caller holds all key locks.
base::Result<bool> is_empty(const Core& core, const Table& table);

}  // namespace postino::engine
