// The figures of the outbox, from the items of its table on the store. An outbox in MySQL has no change stream: its
// own counts (outbox::Ledger::counts) tell how many e-mails are in each state, but there is no history.
#pragma once

#include "metrics/figures/contribution.h"

namespace postino::metrics {

// emails_by_state#{state}. In the history: emails_accepted, and emails_settled#{SENT, FAILED, INVALID}.
Source email_source(std::string table, base::Milliseconds kept_for);

}  // namespace postino::metrics
