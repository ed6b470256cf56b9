// What a running server takes from its settings when they are read again: keys, certificates, passwords of brokers and
// the log. The rest needs a restart.
#pragma once

#include <string>
#include <vector>

#include "app/settings/settings.h"

namespace postino::app {

struct Reload {
  Settings settings;               // of the running server, with what it can take
  std::vector<std::string> flags;  // of settings that were changed and need a restart: "--smtp"
};

// Fails when the settings of the running server would break a rule with what it takes: keys that go must not open an
// address to everybody, even if that address is to change at the next start. The last key does not go, either.
base::Result<Reload> plan_reload(const Settings& running, const Settings& fresh);

}  // namespace postino::app
