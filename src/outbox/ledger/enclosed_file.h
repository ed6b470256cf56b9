// Files below a directory, by paths that come from outside: nothing in such a path leads out of it, no symbolic link
// either.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace postino::outbox {

// Reads the whole file. not_found when there is none or the path leads elsewhere, invalid when it is no plain file or
// larger than `max_bytes`.
base::Result<std::string> read_enclosed_file(int directory, const std::string& path, std::size_t max_bytes);

// Creates the file with its directories, durable when it returns; `modified` becomes its time of modification. conflict
// when it exists.
base::Result<void> write_enclosed_file(int directory, const std::string& path, const std::string& bytes,
                                       base::TimePoint modified);

base::Result<void> remove_enclosed_file(int directory, const std::string& path);  // not_found

// What a file's name ends with while it is being written.
inline constexpr std::string_view unfinished_ending = ".part";

// A descriptor of the directory.
base::Result<int> open_directory(const std::string& path);

}  // namespace postino::outbox
