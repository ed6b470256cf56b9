// Text as JSON has it.
#pragma once

#include <string>
#include <string_view>

namespace postino::json {

// A string literal with quotes; invalid UTF-8 is replaced by U+FFFD so that the output is always JSON.
void append_string(std::string& out, std::string_view text);

// Could append_string keep all of it?
bool is_utf8(std::string_view text);

}  // namespace postino::json
