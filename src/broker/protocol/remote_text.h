// What a broker says, fit for our messages and logs.
#pragma once

#include <string>
#include <string_view>

namespace postino::broker {

// At most 300 bytes; control characters are spaces, and what is not UTF-8 a question mark.
std::string clean_text(std::string_view text);

}  // namespace postino::broker
