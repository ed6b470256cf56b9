// The stored form of tables and streams: item maps, so that fields can be added without a new format.
#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"

namespace postino::engine {

std::string encode_table(const Table& table);
base::Result<Table> decode_table(std::string_view bytes);

std::string encode_backup(const Backup& backup);
base::Result<Backup> decode_backup(std::string_view bytes);

std::string encode_stream(const Stream& stream);
base::Result<Stream> decode_stream(std::string_view bytes);

}  // namespace postino::engine
