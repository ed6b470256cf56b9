// The table of metrics: made where it is missing. figures/figure_items.h says what is in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::metrics {

store::TableSetup metrics_table_setup(const std::string& table);

// A table that other programs made with the hash key metric_name gets the index that it lacks.
base::Result<void> prepare_metrics_table(store::Store& store, const std::string& table);

// Has the figures of all sources counted again when they are followed the next time, for example because items that
// they count were lost. In a store that no server uses. Answers how many sources there are.
base::Result<int> want_recount(store::Store& store, const std::string& table, const std::string& reason);

// When a process that follows a table, and has not let go of it, last said that it is alive: by its own clock. nullopt:
// none is known. One that has ended as it should has let go.
base::Result<std::optional<base::TimePoint>> last_sign_of_a_follower(store::Store& store, const std::string& table);

// What begins the names of items that say how far the streams of this store were followed: for no other store.
std::vector<std::string> names_of_following();

}  // namespace postino::metrics
