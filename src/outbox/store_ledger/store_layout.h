// The outbox's tables on a store with DynamoDB's model: names of tables, indexes and attributes.
#pragma once

#include <string>
#include <string_view>

namespace postino::outbox {

struct StoreTables {
  std::string emails = "email-outbox";
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

// Work and listings are spread over a few partitions, so that none becomes hot.
inline constexpr int shard_count = 4;
int shard_of(std::string_view id);

}  // namespace postino::outbox
