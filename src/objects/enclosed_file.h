// Files below an open directory, by paths that come from outside: nothing in such a path leads out of it, no symbolic
// link either.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"

namespace postino::objects {

// A file that is open for reading, and how large it was then.
struct EnclosedFile {
  base::Descriptor descriptor;
  std::string path;
  std::size_t size = 0;
};

// not_found when there is none or the path leads elsewhere, invalid when it is no plain file or larger than
// `max_bytes`.
base::Result<EnclosedFile> open_enclosed_file(int directory, const std::string& path, std::size_t max_bytes);
// As many bytes as it had when it was opened, or fewer when it became shorter.
base::Result<std::string> read_file(const EnclosedFile& file);
// Both.
base::Result<std::string> read_enclosed_file(int directory, const std::string& path, std::size_t max_bytes);

// Is the path, or a directory on it, a symbolic link? The functions here say not_found then: callers who may not know
// what there is need no other answer.
bool meets_link(int directory, const std::string& path);
// Is there something that this process may not read, or that the disk cannot?
bool refuses_reading(int directory, const std::string& path);

// Creates the file with its directories, durable when it returns; `modified` becomes its time of modification. conflict
// when it exists.
base::Result<void> write_enclosed_file(int directory, const std::string& path, std::string_view bytes,
                                       base::TimePoint modified);
// The same, in place of one that exists: readers see all of the old one or all of the new one. It is written under the
// path `unfinished` first, of which no other writer may have the same.
base::Result<void> replace_enclosed_file(int directory, const std::string& path, std::string_view bytes,
                                         base::TimePoint modified, const std::string& unfinished);

base::Result<void> remove_enclosed_file(int directory, const std::string& path);  // not_found

// Removes a directory in which nothing is. False when there is something, when it is not there, or cannot be removed.
bool remove_enclosed_directory(int directory, const std::string& path);

// What a file's name ends with while it is being written.
inline constexpr std::string_view unfinished_ending = ".part";

base::Result<base::Descriptor> open_directory(const std::string& path);

}  // namespace postino::objects
