// Commands that change any number of things, one after the other.
#pragma once

#include "app/cli/client_command.h"
#include "app/client/email_changes.h"

namespace postino::app {

// `group` is the command around it; `change` must outlive the command line.
void add_change_command(CommandLine& line, CLI::App& group, const EmailChange& change);

}  // namespace postino::app
