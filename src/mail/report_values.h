// Values of the fields of a delivery status (RFC 3464).
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// "rfc822; ann@example.com": what stands behind the type, or everything.
std::string_view without_type(std::string_view value);

// RFC 3461's xtext. Programs differ in whether they decode what they report: a text that would not be encoded like
// this, for example ann+41@example.com, stays as it is.
std::string decode_xtext(std::string_view text);

// One line of printable UTF-8 of at most `limit` bytes.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace postino::mail
