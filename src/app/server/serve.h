// `postino serve`: the store behind DynamoDB's API, until it is told to end.
#pragma once

#include <functional>
#include <iosfwd>

#include "app/settings/settings.h"
#include "base/result.h"

namespace postino::app {

// The settings as they are now, in their file and elsewhere.
using ReadSettings = std::function<base::Result<Settings>()>;

// Opens the store, serves, says on `out` where, and returns when SIGTERM or SIGINT has come and everything taken has
// been finished. With SIGHUP it reads the settings again and takes from them what a running server can take; when that
// fails, everything stays as it was. Must be called before the process has other threads.
base::Result<void> serve(const Settings& settings, const ReadSettings& read_settings, std::ostream& out);

}  // namespace postino::app
