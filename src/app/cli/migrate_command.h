// `postino migrate`: the tables of the outbox in MySQL or MariaDB.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_migrate_command(CLI::App& program);

}  // namespace postino::app
