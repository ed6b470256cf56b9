// What a backup consists of. Its manifest names the chunks of a list of files, and each file the chunks of its
// contents: chunks are called by what they are, so the manifest binds all of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace postino::backup {

// A part of a chunk. Small files share one.
struct Piece {
  std::string chunk;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

struct FileEntry {
  std::string path;  // below the directory that it is restored to: "store/000012.sst"
  std::uint64_t size = 0;
  base::TimePoint modified;  // of files of a spool it says how long they are kept
  std::vector<Piece> pieces;
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

struct Manifest {
  std::string id;
  std::string store;         // which store it is of: restored ones are the same
  std::int64_t number = 0;   // of the backups of a place, counted up: the order that no clock changes
  base::TimePoint taken;     // the moment that it shows
  base::TimePoint finished;  // when it was written
  std::string program;       // the version of Postino that wrote it
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;      // of all files
  std::uint64_t new_bytes = 0;  // that the place did not have before
  std::vector<Piece> list;      // chunks with the list of files, in their order
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The stored forms are part of the format of backups: docs/formats.md. What is read must be as written: corrupt
// otherwise.
std::string encode_manifest(const Manifest& manifest);
base::Result<Manifest> decode_manifest(std::string_view text);
// A line of the list.
std::string encode_file(const FileEntry& file);
base::Result<FileEntry> decode_file(std::string_view line);

// "20261119T093000Z-1a2b3c4d": sorts by time, as far as the clock is right.
std::string make_backup_id(base::TimePoint taken, std::uint32_t distinction);
bool is_backup_id(std::string_view text);

// Stays such a path inside the directory that it is below? A manifest may be forged.
bool is_inside(std::string_view path);

}  // namespace postino::backup
