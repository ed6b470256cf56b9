// `postino emails`: what has become of e-mails, and what is to become of them.
#pragma once

#include "app/cli/command.h"

namespace postino::app {

Command add_emails_command(CLI::App& program);

}  // namespace postino::app
