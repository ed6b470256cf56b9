// The file that sealing keys are in: one on each line, as 64 hexadecimal digits. The first one seals. Empty lines and
// those that begin with # say nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace postino::sealing {

inline constexpr std::size_t most_keys = 16;

// A key from 64 hexadecimal digits; nullopt when it is something else.
std::optional<std::string> key_of(std::string_view digits);

// invalid, with the line and never with what is in it; not_found when there is no file.
base::Result<std::vector<std::string>> parse_keys(std::string_view text);
base::Result<std::vector<std::string>> read_key_file(const std::filesystem::path& file);

// A new file with a new key, which its owner alone may read. It is on the disk when this returns. conflict when there
// is one.
base::Result<std::vector<std::string>> make_key_file(const std::filesystem::path& file, base::Random& random);

// May others than its owner read it?
bool is_open_to_others(const std::filesystem::path& file);

}  // namespace postino::sealing
