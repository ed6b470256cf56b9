// When the records of an e-mail begin to expire, on a store that deletes them by their TTL without asking: the store of
// others, such as Amazon DynamoDB. There no record of an e-mail has a TTL at its top until the e-mail is finished. The
// commit that finishes it gives one to all of them, and the commit that begins it again takes it away. (The embedded
// store asks before it deletes: see store_expiry.h.)
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::outbox {

// Safe to use from any thread.
class RecordLives {
 public:
  // `has_contents`: payloads and messages are items of the store, too. The store must outlive it.
  RecordLives(store::Store& store, StoreTables tables, store::Retry retry, bool has_contents)
      : store_(store), tables_(std::move(tables)), retry_(std::move(retry)), has_contents_(has_contents) {}

  // Actions for the commit that finishes the e-mail or begins it again, beside the _META record and the lines that the
  // commit adds. `email` is as it was before.
  std::vector<store::TransactUpdate> in_commit(const Email& email, const RecordLife& life) const;
  std::size_t count_in_commit(const Email& email) const;

  // What that commit has no room for: many lines of history, and contents of several parts. To be called after a commit
  // that finishes the e-mail, and before one that begins it again: so what is not finished never expires, whenever the
  // process ends.
  base::Result<void> write_rest(const Email& email, const RecordLife& life) const;

 private:
  std::vector<item::Key> keys_of_contents(const Email& email) const;
  base::Result<void> write_parts(const std::string& path, const RecordLife& life) const;

  store::Store& store_;
  const StoreTables tables_;
  const store::Retry retry_;
  const bool has_contents_;
};

}  // namespace postino::outbox
