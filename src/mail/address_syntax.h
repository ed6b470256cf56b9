// The form of local@domain (RFC 5321 section 4.1.2, with the UTF-8 of RFC 6531).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::mail {

// Fails with the rule that is broken. No name, no angle brackets, no comments.
base::Result<void> check_address(std::string_view address);

// As it stands in an ASCII header: the domain in its A-label form. Fails for a local part beyond ASCII, which has none.
base::Result<std::string> to_ascii_address(std::string_view address);
// The same, but a local part beyond ASCII stays, with its domain: such a header needs SMTPUTF8 (RFC 6532).
base::Result<std::string> to_header_address(std::string_view address);

}  // namespace postino::mail
