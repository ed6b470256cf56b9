// `postino send`: hands in one e-mail that flags describe, or those of a file.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_send_command(CLI::App& program);

}  // namespace postino::app
