// Files and directories as a repair handles them: what a function has done is synced where it says so, and errors name
// the path.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "base/result.h"

namespace postino::engine {

tl::unexpected<base::Error> repair_failure(const std::string& what, const std::filesystem::path& path,
                                           const std::error_code& error);
std::error_code last_system_error();

// Whatever it is, a link that leads nowhere included.
bool is_path_there(const std::filesystem::path& path);
bool are_on_one_disk(const std::filesystem::path& one, const std::filesystem::path& other);

base::Result<void> make_private_directory(const std::filesystem::path& path);
base::Result<void> move_path(const std::filesystem::path& from, const std::filesystem::path& to);
base::Result<void> remove_path(const std::filesystem::path& path);  // with all that is in it, if it is there
base::Result<void> sync_path_of_repair(const std::filesystem::path& path);

// Synced, but not the directory above.
base::Result<void> write_synced_file(const std::filesystem::path& file, const std::string& text);
base::Result<void> copy_synced_file(const std::filesystem::path& from, const std::filesystem::path& to);
base::Result<void> copy_synced_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// Two directories change places: at once where the file system can do it. Elsewhere `one` is missing for a moment, and
// is then at aside_of(other).
base::Result<void> exchange_directories(const std::filesystem::path& one, const std::filesystem::path& other);
std::filesystem::path aside_of(const std::filesystem::path& other);

}  // namespace postino::engine
