// The outbox's storage on MySQL or MariaDB.
#pragma once

#include <chrono>
#include <memory>

#include "app/server/outbox_storage.h"
#include "idempotency/guard.h"

namespace postino::app {

// Prepares an empty database, or any when the settings allow it; fails otherwise when the tables are not those of this
// program, and names the command that makes them so.
base::Result<std::unique_ptr<OutboxStorage>> open_mysql_storage(const OutboxSettings& settings,
                                                                const StorageContext& context);

// The idempotency keys of servers that share a database, with connections of their own. Safe to use from any thread.
class SharedKeys {
 public:
  virtual ~SharedKeys() = default;

  virtual idempotency::Records& records() = 0;
  // The database's.
  virtual const base::Clock& clock() const = 0;

  // What is away then is not asked again: it is time to end.
  virtual void give_up_at(std::chrono::steady_clock::time_point when) = 0;
  // Calls that still wait for the database fail.
  virtual void break_off() = 0;
};

// Prepares the database as open_mysql_storage() does. `clock` is this machine's, and must outlive it.
base::Result<std::shared_ptr<SharedKeys>> open_shared_keys(const OutboxSettings& settings, const base::Clock& clock);

// The same options for guards that are to have these keys. They keep them alive.
idempotency::GuardOptions with_shared_keys(idempotency::GuardOptions options, const std::shared_ptr<SharedKeys>& keys);

}  // namespace postino::app
