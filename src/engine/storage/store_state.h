// What the data directory knows about the store's files, in its file STATE: whether the store was closed or is open,
// and which files must be there. RocksDB forgets a missing log, and a log or manifest that was cut short.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/storage/options.h"

namespace postino::engine {

struct KnownFile {
  std::string name;  // in the store's directory
  // When the store was closed. Of a log in an open store: it has at least so many bytes, which are synced; with relaxed
  // durability only if the checksum is known as well. nullopt: not known.
  std::optional<std::uint64_t> size;
  std::optional<std::uint32_t> checksum;  // CRC-32C of its contents; nullopt: not known
  friend bool operator==(const KnownFile&, const KnownFile&) = default;
};

struct StoreState {
  // The store is open, or its process ended without closing it. Then `files` are the logs.
  bool open = true;
  Durability durability = Durability::synced;  // of what was written last
  std::vector<KnownFile> files;
};

// The stored form is part of the disk format: docs/formats.md.
std::string encode_state(const StoreState& state);
base::Result<StoreState> decode_state(std::string_view text);

inline std::filesystem::path state_file(const std::filesystem::path& directory) { return directory / "STATE"; }

// A file in the store's directory. It says that there is a STATE, so that a missing one is known for damage: stores of
// older versions have neither.
inline constexpr const char* state_mark_name = "HAS_STATE";

// Empty when the directory has none.
base::Result<std::optional<StoreState>> read_state(const std::filesystem::path& directory);

// As it is stored; empty when the directory has none.
base::Result<std::optional<std::string>> read_state_text(const std::filesystem::path& directory);

// Whole or not at all, and synced. Takes RocksDB's file system, so that a test sees these writes as well.
rocksdb::IOStatus write_state(rocksdb::FileSystem& files, const std::filesystem::path& directory,
                              const StoreState& state);
rocksdb::IOStatus write_state_mark(rocksdb::FileSystem& files, const std::filesystem::path& directory);

// Puts back what read_state_text() has read. Where there was none, the mark goes with the record.
rocksdb::IOStatus write_state_text(rocksdb::FileSystem& files, const std::filesystem::path& directory,
                                   const std::optional<std::string>& text);

}  // namespace postino::engine
