// The table of metrics: made where it is missing. figures/figure_items.h says what is in it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::metrics {

store::TableSetup metrics_table_setup(const std::string& table);

// A table that other programs made with the hash key metric_name gets the index that it lacks.
base::Result<void> prepare_metrics_table(store::Store& store, const std::string& table);

// Has the figures of all sources counted anew when they are followed the next time, for example because items that they
// count were lost. In a store that no server uses. Answers how many sources there are.
base::Result<int> want_recount(store::Store& store, const std::string& table, const std::string& reason);

}  // namespace postino::metrics
