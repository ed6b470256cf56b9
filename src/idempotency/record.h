// What is kept about an execution that must happen once: the item of the idempotency table.
#pragma once

#include <cstdint>
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
  base::TimePoint life_ends;    // of an execution in progress: as the caller wished it. Not stored
  base::TimePoint lease_until;  // of an execution in progress: when it counts as dead
  std::string owner;            // of an execution in progress
  // How far the execution has come, in its own words. The execution that goes on after a failure or a crash finds it
  // here; with a completed one, what remains to be done.
  std::string progress;
  std::int64_t response_parts = 0;  // of a response that is too large for the item: kept elsewhere, under
  std::string response_id;          // this name

  bool has_lease() const { return status == Status::in_progress || (status == Status::completed && !progress.empty()); }

  friend bool operator==(const Record&, const Record&) = default;
};

std::string partition_key(const std::string& operation, const std::string& key);  // <operation>#<key>
item::Item to_item(const Record& record);
// corrupt when attributes are missing or of the wrong kind, so that it is not known what was done. A response that is
// kept elsewhere is not read.
base::Result<Record> from_item(const item::Item& item);

}  // namespace postino::idempotency
