// Small files, read at once.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace postino::engine {

// Fails with ErrorCode::io, and never throws: an iterator over a stream would, when the disk fails.
base::Result<std::string> read_whole_file(const std::filesystem::path& file);

}  // namespace postino::engine
