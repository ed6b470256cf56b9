// Creates the outbox's tables where they are missing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::outbox {

// `is_shared`: on a store of others, which deletes without asking what has expired. Counts have no expiry there: the
// slices of a day would go one by one (store_count_expiry.h).
std::vector<store::TableSetup> table_setups(const StoreTables& tables, bool is_shared = false);

// Tables that exist are taken as they are, but must have the keys the outbox needs: invalid otherwise. Indexes that are
// missing, because another program made the table, are added. `wait` is called while they are being filled, and waits a
// while; false: it is time to give up, which is a conflict.
base::Result<void> prepare_tables(
    store::Store& store, const StoreTables& tables, const std::function<bool()>& wait = [] { return false; });
// What the tables lack, which another program has taken away since: "table email-outbox has no index ListIndex". Empty
// when they lack nothing, or cannot be described now.
std::vector<std::string> missing_indexes(store::Store& store, const StoreTables& tables);

// That of the sandbox alone, for an outbox whose e-mails are elsewhere.
base::Result<void> prepare_mailbox(store::Store& store, const StoreTables& tables);

// That of the counts alone, for an outbox that has lost it.
base::Result<void> prepare_counts(store::Store& store, const StoreTables& tables);

}  // namespace postino::outbox
