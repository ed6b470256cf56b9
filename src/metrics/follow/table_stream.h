// The change stream that a table has, or gets.
#pragma once

#include <string>

#include "metrics/follow/failure.h"
#include "store/store.h"

namespace postino::metrics {

// A table must have a stream with new and old images. One without a stream gets it, if `may_enable`. temporary when
// there is none, or one with other contents; absent when there is no table.
Outcome<void> check_stream(store::Store& store, const std::string& table, bool may_enable);

}  // namespace postino::metrics
