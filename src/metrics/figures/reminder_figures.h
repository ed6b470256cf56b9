// The figures of payment reminders, from the items of their table.
#pragma once

#include "metrics/figures/contribution.h"

namespace postino::metrics {

// reminders_by_status#{draft, approved, rejected, withdrawn, expired}   drafts
// reminders_by_status#{sent, failed}                                   reminders that were approved
// reminders_by_type#{type}                                             those that were sent
//
// In the history: reminders_drafted, reminders_sent#{type}. `types` are those that the rules know; all others together
// are "other", as statuses are that are unknown.
Source reminder_source(std::string table, base::Milliseconds kept_for, const std::vector<std::string>& types);

}  // namespace postino::metrics
