// Creates the outbox's tables where they are missing.
#pragma once

#include <vector>

#include "base/result.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::outbox {

std::vector<store::TableSetup> table_setups(const StoreTables& tables);

// Tables that exist are taken as they are, but must have the keys and indexes the outbox needs: invalid otherwise, with
// what is missing.
base::Result<void> prepare_tables(store::Store& store, const StoreTables& tables);
// That of the sandbox alone, for an outbox whose e-mails are elsewhere.
base::Result<void> prepare_mailbox(store::Store& store, const StoreTables& tables);

// That of the counts alone, for an outbox that has lost it.
base::Result<void> prepare_counts(store::Store& store, const StoreTables& tables);

}  // namespace postino::outbox
