// The keys of the catalog in the meta family; part of the disk format: docs/formats.md.
#pragma once

#include <string_view>

namespace postino::engine {

// A '0' follows '/' in byte order, so that "x/" to "x0" is everything below "x/".
inline constexpr std::string_view table_prefix = "table/";
inline constexpr std::string_view table_end = "table0";
inline constexpr std::string_view stream_prefix = "stream/";
inline constexpr std::string_view stream_end = "stream0";
inline constexpr std::string_view backup_prefix = "backup/";
inline constexpr std::string_view backup_end = "backup0";
// What those who export and import tables keep of it: the prefix and an id.
inline constexpr std::string_view transfer_prefix = "transfer/";
inline constexpr std::string_view transfer_end = "transfer0";
// How far a table, or the image of a backup, is filled that is being restored or made: the prefix and
// its id.
inline constexpr std::string_view restored_prefix = "restored/";
inline constexpr std::string_view next_id_key = "next-id";
inline constexpr std::string_view openings_key = "openings";

// Sequence numbers of change records count up from the number of the opening, shifted by this.
inline constexpr int numbers_per_opening_bits = 40;

}  // namespace postino::engine
