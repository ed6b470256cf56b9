// What happens to the writes of the store, and to calls of one on other machines, for /metrics.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "remote/remote_store.h"

namespace postino::app {

// Whether the store takes writes, the room on its disk, and what it has written.
void append_store_metrics(std::string& out, const engine::WriteHealth& health, const engine::WriteCounts& counts);

// What was asked of a store on other machines, and what it took.
void append_remote_metrics(std::string& out, const std::vector<remote::RemoteCounts>& counts);

}  // namespace postino::app
