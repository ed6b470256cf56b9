// Base64 (RFC 4648): the standard alphabet, with padding.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::base {

void append_base64(std::string& out, std::string_view bytes);
std::string to_base64(std::string_view bytes);

// malformed, in DynamoDB's words, when it is not base64 or bits that belong to no byte are set.
Result<std::string> from_base64(std::string_view text);

}  // namespace postino::base
