// Reads streams and compares them with the changes that the model remembers.
#pragma once

#include <string>
#include <vector>

#include "model_table.h"
#include "store/store.h"

namespace postino::model {

// Everything that the stream still has, shard by shard from the trim horizon on.
store::Answer<std::vector<store::StreamRecord>> read_stream(store::Store& store, const std::string& stream_arn);

// Starts at one of the records, and after it, and at the end; `number` chooses the record. What is wrong, or nothing.
std::string fault_of_positions(store::Store& store, const std::string& stream_arn, int number);

// Records must come in ascending sequence numbers and, for each key, be exactly these changes in this order. What
// differs, or nothing. The table has the stream's view type.
std::string difference(const ModelTable& table, const std::vector<ModelRecord>& expected,
                       const std::vector<store::StreamRecord>& actual);

// The changes that a stream still shows at this time.
std::vector<ModelRecord> still_kept(const std::vector<ModelRecord>& records, base::TimePoint now);

}  // namespace postino::model
