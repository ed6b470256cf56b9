// What all services of this module share: the table, time, retries, and how a ticket is found. Safe to call from any
// thread.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "store/merged_listing.h"
#include "store/retry.h"
#include "store/shard_note.h"
#include "store/store.h"
#include "store/table_setup.h"
#include "support/actor.h"
#include "support/page.h"
#include "support/record/keys.h"
#include "support/record/ticket_item.h"
#include "support/refusal.h"

namespace postino::support {

struct SupportTables {
  std::string tickets = "prod-tickets-unified";
  DataForm data = DataForm::map;  // of new tickets
  TicketShards shards = {};       // prepare() finds out how many there ever were
};

// The table, as it is made unless it is there.
store::CreateTableRequest tickets_table(const SupportTables& tables);
// With all that belongs to it.
store::TableSetup ticket_table_setup(const SupportTables& tables);

class TicketStore {
 public:
  TicketStore(store::Store& store, SupportTables tables, const base::Clock& clock, base::Random& random,
              store::Retry retry);

  // Makes the table unless it is there, and adds to one of others what it lacks: indexes, the stream, expiry,
  // point-in-time recovery. Before anything else is called, on one thread. `wait` is called while an index is being
  // filled; false: give up, conflict.
  base::Result<void> prepare(const std::function<bool()>& wait);

  Keys keys(const Scope& scope) const {
    return Keys(scope.tenant, scope.customer_id, {tables_.shards.count, shards_.most()});
  }
  const SupportTables& tables() const { return tables_; }
  // Other processes may have begun to write to more shards; to be called now and then, by one thread.
  void look_at_shards() { shards_.look_again(clock_); }
  const base::Clock& clock() const { return clock_; }
  base::Random& random() { return random_; }
  store::Store& store() { return store_; }

  // Consistent. The only ways to a ticket by its id: unknown_ticket when the scope does not cover it.
  OrRefusal<StoredTicket> find(const std::string& id, const Scope& scope);
  // Also one of which attributes are unavailable: for those who want what belongs to it. find() says corrupt then.
  OrRefusal<StoredTicket> find_readable(const std::string& id, const Scope& scope);
  // Those that there are and that the scope covers, in the order of the ids; at most 100. One that cannot be read is
  // left out, told of in the log, and counted in `unreadable`, if that is given; not for callers that are bound to a
  // customer, because whose it is cannot be known.
  OrRefusal<std::vector<StoredTicket>> find_many(const std::vector<std::string>& ids, const Scope& scope,
                                                 int* unreadable = nullptr);
  // Of an item of a list: nothing when the scope does not cover it, or when it cannot be read, which is counted.
  std::optional<Ticket> visible(item::Item item, const Scope& scope, int& unreadable) const;

  // Consistent.
  OrRefusal<std::optional<item::Item>> get(const item::Key& key);
  // The attributes of an item that are in the object store; none when there is no such item.
  OrRefusal<std::vector<std::string>> moved_attributes(const item::Key& key);
  OrRefusal<std::vector<item::Item>> get_many(const std::vector<item::Key>& keys);
  OrRefusal<store::PageResponse> query(const store::QueryRequest& request);
  // invalid, with the field `cursor` or `limit`. The name gets the scope added.
  OrRefusal<Page<item::Item>> list(store::MergedListing listing, const PageRequest& page, int usual,
                                   const Scope& scope);

  // Writes it. With conditions that failed: busy; `failed`, if given, is set to their places.
  OrRefusal<void> write(const std::vector<store::TransactAction>& actions, std::vector<std::size_t>* failed = nullptr);

  store::TransactPut put(item::Item item, std::optional<std::string> condition = std::nullopt) const;

  // May records of hand-overs wait (handovers.h)? So it is at first. Writers say so when they are about to write one,
  // and again when they have; the worker that hands over takes it back before it looks.
  void expect_handovers() const { handovers_may_wait_ = true; }
  bool take_expected_handovers() const { return handovers_may_wait_.exchange(false); }
  store::TransactDelete removal(item::Key key) const;

 private:
  base::Result<void> complete(const store::CreateTableRequest& wanted, const std::function<bool()>& wait);

  store::Store& store_;
  SupportTables tables_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  store::ShardNote shards_;  // lists ask for all that were ever written
  mutable std::atomic<bool> handovers_may_wait_ = true;
};

}  // namespace postino::support
