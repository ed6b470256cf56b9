// `postino messages`: puts messages into queues, takes them out, and looks at queues and brokers.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_messages_command(CLI::App& program);

}  // namespace postino::app
