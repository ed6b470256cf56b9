// The stored form of a change record.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "engine/catalog/table.h"
#include "engine/storage/stored_item.h"
#include "store/stream.h"

namespace postino::engine {

// The record of a change of `before` into `after` (at least one is there), with the images that `view` asks for.
std::string encode_stream_record(const Table& table, store::StreamViewType view, const StoredItemPointer& before,
                                 const StoredItemPointer& after, base::TimePoint now, bool by_time_to_live);

base::Result<store::StreamRecord> decode_stream_record(std::string_view bytes);

// The time alone, for trimming.
base::Result<base::TimePoint> time_of_stream_record(std::string_view bytes);

}  // namespace postino::engine
