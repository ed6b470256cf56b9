// Where the records of executions are kept, and answers that are too large for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "idempotency/record.h"
#include "store/store.h"

namespace postino::idempotency {

// Safe to call from any thread. What is written is durable. A write that finds another record than it needs fails with
// conditional_check_failed; its error may have that record (details->item).
class Records {
 public:
  virtual ~Records() = default;

  // For operators: where a record is found.
  virtual const std::string& place() const = 0;

  virtual store::Answer<std::optional<item::Item>> find(const std::string& partition_key) = 0;
  // If there is none.
  virtual store::Answer<void> insert(const Record& record) = 0;
  // If the one that is there is still the one that was seen.
  virtual store::Answer<void> replace(const item::Item& seen, const Record& record) = 0;
  // These need the record's owner. The first two need an execution in progress, the last one that is completed.
  virtual store::Answer<void> replace_owned(const Record& record) = 0;
  // Writes lease and times, and the progress if it is to be noted; all else stays, whatever the record given has.
  virtual store::Answer<void> hold(const Record& record, bool notes_progress) = 0;
  // Nothing remains to be done. Writes the time of it, and when the record expires if its life has not ended.
  virtual store::Answer<void> settle(const Record& record) = 0;

  virtual store::Answer<void> put_part(const std::string& name, std::int64_t part, std::string bytes,
                                       base::TimePoint keep_until) = 0;
  // Empty when it is missing or is no part.
  virtual store::Answer<std::optional<std::string>> find_part(const std::string& name, std::int64_t part) = 0;
};

}  // namespace postino::idempotency
