// `postino mailbox`: the sandbox, where mail goes as long as there is no relay.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_mailbox_command(CLI::App& program);

}  // namespace postino::app
