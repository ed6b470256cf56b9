// CRC-32C (Castagnoli), with which RocksDB guards its logs and we guard the record of the store's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace postino::engine {

// `before` is the checksum of the bytes that come before these.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

// The same on any processor: crc32c() uses the instruction that most have.
std::uint32_t portable_crc32c(std::string_view bytes, std::uint32_t before = 0);

// RocksDB stores the checksum of a log record in this form, so that a checksum of data with checksums in it is sound.
std::uint32_t masked_crc32c(std::uint32_t checksum);

}  // namespace postino::engine
