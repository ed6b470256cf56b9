// E-mails as items: the _META record with the present state, and one record for each state reached.
#pragma once

#include <string>

#include "base/result.h"
#include "item/value.h"
#include "outbox/ledger/ledger.h"
#include "store/transaction.h"

namespace postino::outbox {

item::Key meta_key(const std::string& id);

// How long a record is kept. Attributes.TTL always says it. A store removes a record by the TTL at its top, which is
// left out as long as the record must not be removed and nothing guards it (record_lives.h).
struct RecordLife {
  // NOLINTNEXTLINE(google-explicit-constructor): a time alone is a life that has begun
  RecordLife(base::TimePoint end, bool begun = true) : expires(end), has_begun(begun) {}

  base::TimePoint expires;
  bool has_begun;
};

// The whole _META record. `shards`, here and below: over how many partitions work and listings are spread.
item::Item meta_item(const Email& email, const RecordLife& life, int shards);
// corrupt when attributes that must be there are not.
base::Result<Email> email_of(const item::Item& meta);

// What a line of history is called: "PROCESSING", or "PROCESSING#2" when it is there for the second time.
std::string line_name(std::string_view status, int occurrence);
item::Item line_item(const std::string& id, const NewLine& line, const RecordLife& life);
// nullopt for records that are no line of history.
std::optional<HistoryEntry> history_entry_of(const item::Item& item);

// Rewrites what a move may change, on condition that the e-mail is still as it was before; if it is not, the refusal
// has the record. `life`: another one.
store::TransactUpdate meta_update(const std::string& table, const Change& change, int shards,
                                  const std::optional<RecordLife>& life = std::nullopt);
// The same for what changes within a state.
store::UpdateItemRequest meta_amendment(const std::string& table, const Change& change, int shards,
                                        const std::optional<RecordLife>& life = std::nullopt);
// Adds the last bounce, on condition that the others are still the same.
store::TransactUpdate bounces_update(const std::string& table, const Change& change);

// Where work on an e-mail waits ("READY#3"); empty when none does.
std::string queue_of(const Email& email, int shards);
std::string queue_name(State state, int shard);
std::string dead_callback_queue(int shard);
// Does work on the e-mail wait in this queue, whichever shard it is?
bool waits_in(const Email& email, std::string_view queue);
// Where e-mails are listed, besides in queue_name(): "tenant/SENT#3". And their order there: by time, then by id.
std::string tenant_listing(const std::string& tenant, State state, int shard);
std::string listing_position(const Email& email);
// Is it one of the shards of queue_name(), or of tenant_listing()?
bool is_shard_of(std::string_view name, std::string_view partition);
std::string partition_of(const std::string& tenant, State state);  // "tenant/SENT", "SENT"

}  // namespace postino::outbox
