// The writes of one record of a log, read without RocksDB, which takes a record with a good checksum for a sound one
// and aborts if it is not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/recovery/table_file.h"

namespace postino::engine {

using EachWrite = std::function<void(std::uint64_t family, const Record& write)>;

// False when the record is no batch of writes; then `each` was not called.
bool read_writes(std::string_view record, const EachWrite& each);

// The store numbers all changes of keys in the order in which they are written, without gaps.
struct WriteNumbers {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
// Of the writes in a record; nothing when it is no batch of writes.
std::optional<WriteNumbers> numbers_of_writes(std::string_view record);

}  // namespace postino::engine
