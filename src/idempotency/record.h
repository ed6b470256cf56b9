// What is kept about an execution that must happen once: the item of the idempotency table.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"

namespace postino::idempotency {

enum class Status { in_progress, completed, failed };

struct Record {
  std::string operation;  // separates name spaces: "PRODUCE", "CONSUME", "POST /emails"
  std::string key;        // the caller's
  Status status = Status::in_progress;
  std::string request_hash;  // SHA-256 of the request, in hex
  std::string response;      // once completed
  base::TimePoint created_at;
  base::TimePoint updated_at;
  base::TimePoint expires_at;
  base::TimePoint lease_until;  // of an execution in progress: when it counts as dead
  std::string owner;            // of an execution in progress

  friend bool operator==(const Record&, const Record&) = default;
};

std::string partition_key(const std::string& operation, const std::string& key);  // <operation>#<key>
item::Item to_item(const Record& record);
// corrupt when attributes are missing or of the wrong kind.
base::Result<Record> from_item(const item::Item& item);

}  // namespace postino::idempotency
