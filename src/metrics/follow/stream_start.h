// Where to begin in a table's stream.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "metrics/follow/failure.h"
#include "store/store.h"

namespace postino::metrics {

// The ARN of a table's stream with new and old images. A table without a stream gets one, if `may_enable`. temporary
// when there is none, or one with other contents; absent when there is no table.
Outcome<std::string> stream_of_table(store::Store& store, const std::string& table, bool may_enable);

struct StreamStart {
  std::unique_ptr<store::Subscription> subscription;
  store::SequenceNumber position = 0;  // it gives all records after this one, or says that some are gone
};
// A little before the present: everything that is written from now on comes, and not much of what was written before.
Outcome<StreamStart> start_recently(store::Store& store, const std::string& table, const std::string& stream);
// As early as possible.
Outcome<StreamStart> start_with_oldest(store::Store& store, const std::string& table, const std::string& stream);

}  // namespace postino::metrics
