// Shard iterators: where a reader of a stream stands, as the opaque text that travels to clients and back.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "engine/storage/keys.h"
#include "store/error.h"
#include "store/stream.h"

namespace postino::engine {

struct ShardIterator {
  ObjectId stream = 0;
  std::uint64_t shard = 0;
  RecordNumber position = 0;  // of the next record to read, whether or not there is one with this number
  base::TimePoint issued;
};

std::string encode_shard_iterator(const ShardIterator& iterator);

// Fails with validation when the text is none of ours, with expired_iterator when it is too old.
store::Answer<ShardIterator> decode_shard_iterator(std::string_view text, base::TimePoint now);

tl::unexpected<store::Error> invalid_shard_iterator();

}  // namespace postino::engine
