// Names of attachments as people may see and save them. Pure code.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::support {

inline constexpr std::size_t longest_attachment_name = 255;  // bytes

// The last part of a path, without what could lead elsewhere or deceive the reader: control characters, those that turn
// the direction of writing or cannot be seen, characters that file systems refuse, dots and blanks at the ends, names
// of devices. Shortened, but for its extension. Never empty. invalid when it is not UTF-8.
base::Result<std::string> clean_attachment_name(std::string_view name);

// In lower case, without the dot; empty when there is none.
std::string extension_of_name(std::string_view name);

// Does it end like a program, or like something that starts one?
bool is_name_of_program(std::string_view name);

}  // namespace postino::support
