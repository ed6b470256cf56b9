// The figures of the support desk, from the items of its table: tickets, feedback, events.
#pragma once

#include "metrics/figures/contribution.h"

namespace postino::metrics {

// tickets_by_status#{status}   tickets that there are
// avg_resolution_time          tickets that are READY, and the seconds from created_at to completed_at
// customer_satisfaction        feedback, and the sum of its ratings
//
// In the history: tickets_created, tickets_resolved with the seconds it took, feedback with its ratings, and
// tickets_moved#{status} for each event that tells of a new status.
Source ticket_source(std::string table);

}  // namespace postino::metrics
