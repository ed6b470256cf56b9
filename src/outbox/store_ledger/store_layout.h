// The outbox's tables on a store with DynamoDB's model: names of tables, indexes and attributes.
#pragma once

#include <string>
#include <string_view>

#include "item/value.h"

namespace postino::outbox {

struct StoreTables {
  std::string emails = "email-outbox";
  // Of a table that is made: whether it has status_index, which only programs of the former system read often. All
  // e-mails are in one partition of it.
  bool has_status_index = true;
  std::string spool() const { return emails + "-spool"; }
  std::string counts() const { return emails + "-counts"; }
  std::string suppressions() const { return emails + "-suppressions"; }
  std::string mailbox() const { return emails + "-mailbox"; }
  std::string accept_keys() const { return emails + "-idempotency"; }
};

inline constexpr std::string_view meta_status = "_META";
inline constexpr std::string_view status_index = "StatusIndex";  // by state reached
inline constexpr std::string_view work_index = "WorkIndex";      // what waits for work, by due time; sparse
inline constexpr std::string_view list_index = "ListIndex";      // by present state and time of acceptance
inline constexpr std::string_view tenant_index = "TenantIndex";  // the same for each tenant; sparse

// Work and listings are spread over a few partitions, so that none becomes hot: over so many, or as many more as the
// largest number that any process was told (store::ShardNote). What is in one of them stays there until its next
// transition, so all are looked into, and any of them may hold an e-mail.
inline constexpr int least_shards = 4;  // as it was before it could be set
int shard_of(std::string_view id, int shards);

// Where the largest number is noted. In the table of e-mails, so that it is there whenever e-mails are.
item::Key shards_key();
// Which spool outside of the store the contents are in; in the same table.
item::Key spool_note_key();

}  // namespace postino::outbox
