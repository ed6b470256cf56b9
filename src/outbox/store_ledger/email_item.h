// E-mails as items: the _META record with the present state, and one record for each state reached.
#pragma once

#include <string>

#include "base/result.h"
#include "item/value.h"
#include "outbox/ledger/ledger.h"
#include "store/transaction.h"

namespace postino::outbox {

item::Key meta_key(const std::string& id);

// The whole _META record. `expires` goes into TTL.
item::Item meta_item(const Email& email, base::TimePoint expires);
// corrupt when attributes that must be there are not.
base::Result<Email> email_of(const item::Item& meta);

// The record of a line of history: "PROCESSING", or "PROCESSING#2" when it is there for the second time.
item::Item line_item(const std::string& id, const NewLine& line, base::TimePoint expires);
// nullopt for records that are no line of history.
std::optional<HistoryEntry> history_entry_of(const item::Item& item);

// Rewrites what a move may change, on condition that the e-mail is still as it was before. `expires`: another TTL.
store::TransactUpdate meta_update(const std::string& table, const Change& change,
                                  std::optional<base::TimePoint> expires = std::nullopt);
// The same for what changes within a state.
store::UpdateItemRequest meta_amendment(const std::string& table, const Change& change);
// Adds the last bounce, on condition that the others are still the same.
store::TransactUpdate bounces_update(const std::string& table, const Change& change);

// Where work on an e-mail waits ("READY#3"); empty when none does.
std::string queue_of(const Email& email);
std::string queue_name(State state, int shard);
std::string dead_callback_queue(int shard);
// Where e-mails are listed, besides in queue_name(): "tenant/SENT#3". And their order there: by time, then by id.
std::string tenant_listing(const std::string& tenant, State state, int shard);
std::string listing_position(const Email& email);

}  // namespace postino::outbox
