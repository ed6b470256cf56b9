// Makes the tables that a service needs.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace postino::store {

// A table as a service makes it.
struct TableSetup {
  CreateTableRequest request;
  std::string expiry;     // the attribute by which its items expire; empty when they do not
  bool recovers = false;  // it can be brought back to how it was at a point in time
};

// A table that is paid for by request and protected against deletion: a hash key, or a hash and a range key.
CreateTableRequest table_request(std::string name, const std::vector<AttributeDefinition>& keys);

// How to wait for a table that is being made or changed: on an embedded store that is over at once, on others it takes
// seconds, and for an index minutes.
struct TableWait {
  std::function<void(base::Milliseconds)> sleep = {};  // null: the thread rests
  base::Milliseconds first{200};                       // between two looks; it doubles each time
  base::Milliseconds longest{5'000};
  base::Milliseconds patience = std::chrono::minutes(10);  // in all
};

// Waits until the table may be used and changed: an index of it may still be being filled. conflict when that takes
// longer than the patience; not_found when there is no such table. With `is_new`, one that is not there yet is waited
// for: other machines of the service may not know of it.
base::Result<TableDescription> await_table(Store& store, const std::string& table, const TableWait& wait = {},
                                           bool is_new = false);

// Makes the table unless it is there, waits until it can be used, and lets its items expire by the attribute `expiry`,
// unless that is empty. A table that is there is taken as it is, but must have the same keys: invalid otherwise;
// it is then protected against deletion. One that has everything is only looked at: who runs a service need not be
// allowed to make tables.
base::Result<void> prepare_table(Store& store, const CreateTableRequest& request, const std::string& expiry,
                                 const TableWait& wait = {});

// Gives a table that is there, and active, one of the wanted indexes that it lacks; false when it has all. A store
// takes no second one before the first is there.
base::Result<bool> add_missing_index(Store& store, const CreateTableRequest& wanted, const TableDescription& found);

// The tag of a table that other programs may read, and not change. It stays with the table, whatever table the settings
// name later on.
inline constexpr std::string_view read_only_tag = "postino:read-only";
// Gives it to a table that is there, unless it has it. `why` is its value.
base::Result<void> mark_read_only(Store& store, const std::string& table, const std::string& why);
// Names of all that have it.
base::Result<std::set<std::string>> read_only_tables(Store& store);

// Is it being made or changed, or an index of it being filled? Until then it takes no other change.
bool is_changing(const TableDescription& table);

// Protects a table that is there against deletion, unless it is. What cannot be done is logged.
void protect_table(Store& store, const TableDescription& table);

}  // namespace postino::store
