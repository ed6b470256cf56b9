// Expiry entries of several items. A request that makes several items of one partition which expire in the same second
// notes them in one entry: an e-mail comes with all its lines of history.
//
// Such an entry stays until that second, whatever becomes of the items. So only items that had no time to live before
// are noted in one, and an item that gets another time gets an entry of its own. The layout is part of the disk format:
// docs/formats.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/storage/commit_queue.h"
#include "engine/storage/keys.h"

namespace postino::engine {

// Turns the new expiries of the entry into mutations: into groups, and into entries of single items.
void plan_new_expiries(CommitEntry& entry);

struct ExpiryGroup {
  std::int64_t second = 0;
  std::vector<std::string> stored_item_keys;
};

bool is_expiry_group(std::string_view key);
// corrupt when it is damaged.
base::Result<ExpiryGroup> parse_expiry_group(std::string_view key, std::string_view value);

// The key of the first group of the table that expires in this second or later.
std::string first_expiry_group(ObjectId table, std::int64_t second);
// All groups that may have this item begin with this.
std::string expiry_groups_of(std::int64_t second, std::string_view stored_item_key);

}  // namespace postino::engine
