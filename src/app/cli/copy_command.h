// `postino copy`: e-mails from one ledger to the other.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_copy_command(CLI::App& program);

}  // namespace postino::app
