// The directory that holds a store: made when missing, marked with the version of its format.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace postino::engine {

inline constexpr int data_format_version = 1;

// Makes sure the directory exists and is ours to use: empty, or marked by this or an older format version. Marks it.
base::Result<void> prepare_data_directory(const std::filesystem::path& directory);

// Where in it RocksDB keeps its files.
inline std::filesystem::path store_directory(const std::filesystem::path& directory) { return directory / "store"; }

// Makes that place. RocksDB would make it too, but not sync the directory above: a power loss could take all of it.
base::Result<void> prepare_store_directory(const std::filesystem::path& directory);

}  // namespace postino::engine
