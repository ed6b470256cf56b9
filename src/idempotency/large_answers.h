// Answers that are too large for their record: kept in parts beside it.
#pragma once

#include <string>

#include "base/clock.h"
#include "idempotency/record.h"
#include "idempotency/records.h"

namespace postino::idempotency {

// An item has room for 400 KB, of which the rest of a record needs a little.
inline constexpr std::size_t largest_answer_in_item = 350 << 10;

// Safe to use from any thread.
class LargeAnswers {
 public:
  explicit LargeAnswers(Records& records) : records_(records) {}

  // Keeps the response under a unique name, and notes in the record where it is. Durable when it returns;
  // if the record is not written then, the parts go by themselves when it would have expired.
  store::Answer<void> put(Record& record, const std::string& name);
  // Of the response of a record that says where it is.
  static std::size_t largest_size_of(const Record& record);
  // Reads the response of a record that says where it is. False when a part is missing or is no part.
  store::Answer<bool> load(Record& record) const;

 private:
  Records& records_;
};

}  // namespace postino::idempotency
