// What happens to the writes of the store, and to calls of one on other machines, for /metrics.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/store/table_uses.h"
#include "capacity/price_book.h"
#include "engine/engine.h"
#include "remote/remote_store.h"

namespace postino::app {

// Whether the store takes writes, the room on its disk, and what it has written.
void append_store_metrics(std::string& out, const engine::WriteHealth& health, const engine::WriteCounts& counts);

// What was asked of a store on other machines, what it took, and what that costs on demand, in the standard class.
// Costs are told if the prices are in dollars.
void append_remote_metrics(std::string& out, const std::vector<remote::RemoteCounts>& counts,
                           const std::map<std::string, TableUse, std::less<>>& uses, const capacity::PriceBook& prices);

}  // namespace postino::app
