// A payment reminder for those who see the program run for the first time.
#pragma once

#include <iosfwd>

#include "base/result.h"
#include "base/this_thread.h"
#include "reminders/reminders.h"

namespace postino::app {

// A customer with an overdue invoice, a template, a draft that is approved, and what has become of it. On data that has
// them already it shows what there is.
base::Result<void> show_reminder_sample(reminders::Reminders& reminders, const base::Clock& clock, base::Pause& pause,
                                        std::ostream& out);

}  // namespace postino::app
