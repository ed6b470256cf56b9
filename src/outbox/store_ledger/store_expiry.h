// What of the outbox's tables may expire: e-mails that are finished, with everything that belongs to them. The items
// have a time to live from their acceptance on, as programs that read the tables expect; this is asked before one is
// deleted. Counts are not deleted one by one: store_count_expiry.h does it.
#pragma once

#include <string>

#include "base/clock.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"

namespace postino::outbox {

// Safe to call from any thread.
class StoreExpiry {
 public:
  // Both must outlive it.
  StoreExpiry(store::Store& store, StoreTables tables, const base::Clock& clock)
      : store_(store), tables_(std::move(tables)), clock_(clock) {}

  // May this item, whose time has passed, be deleted? Not when that cannot be found out now. Always true of other
  // tables.
  bool may_expire(const std::string& table, const item::Item& item) const;

 private:
  // Of what belongs to the e-mail: lines of history, payload, message.
  bool is_email_over(const std::string& id) const;

  store::Store& store_;
  const StoreTables tables_;
  const base::Clock& clock_;
};

}  // namespace postino::outbox
