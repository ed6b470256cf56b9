// Time as signatures write it: 20130609T100015Z.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace postino::signature {

using Second = std::chrono::sys_seconds;

// From that form, or from the one of HTTP's Date header: Sun, 09 Jun 2013 10:00:15 GMT.
std::optional<Second> parse_signature_time(std::string_view text);

std::string format_signature_time(Second time);

}  // namespace postino::signature
