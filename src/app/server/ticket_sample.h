// A ticket for those who see the program run for the first time.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "support/support_desk.h"

namespace postino::app {

// A ticket that is opened, worked on and closed, and its events. On data that has it already it shows what there is.
base::Result<void> show_ticket_sample(support::SupportDesk& desk, std::ostream& out);

}  // namespace postino::app
