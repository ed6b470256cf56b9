// Commands that print a list.
#pragma once

#include "app/cli/client_command.h"
#include "app/client/listing.h"

namespace postino::app {

// Adds the options of a listing to a command, and runs it. `listing` must outlive the command line.
void run_listing(ClientCommand& command, const Listing& listing);

}  // namespace postino::app
