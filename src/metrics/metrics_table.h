// The table of metrics: made where it is missing. figures/figure_items.h says what is in it.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"

namespace postino::metrics {

// A table that other programs made with the hash key metric_name gets the index that it lacks.
base::Result<void> prepare_metrics_table(store::Store& store, const std::string& table);

}  // namespace postino::metrics
