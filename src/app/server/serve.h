// `postino serve`: the store behind DynamoDB's API, until it is told to end.
#pragma once

#include <iosfwd>

#include "app/server/settings.h"
#include "base/result.h"

namespace postino::app {

// Opens the store, serves, says on `out` where, and returns when SIGTERM or SIGINT has come and everything taken has
// been finished. Must be called before the process has other threads.
base::Result<void> serve(const Settings& settings, std::ostream& out);

}  // namespace postino::app
