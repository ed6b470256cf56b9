// Makes the counts of e-mails again from the e-mails: for a store that has lost some.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"

namespace postino::outbox {

// No other program may use the store meanwhile. Makes the table of counts if it is lost. `keep` is how long e-mails are
// kept. Does nothing where there is no outbox.
base::Result<void> recount(store::Store& store, const StoreTables& tables, base::Milliseconds keep);

}  // namespace postino::outbox
