// What kind of thing an attachment is: type/subtype (RFC 2046).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace postino::mail {

inline constexpr std::size_t longest_content_type = 255;
inline constexpr std::size_t longest_type_half = 127;  // on each side of the slash (RFC 6838)

struct ContentType {
  std::string name;  // "text/calendar", in lower case
  std::vector<std::pair<std::string, std::string>> parameters;

  bool is_text() const { return name.starts_with("text/"); }
  bool has_parameter(std::string_view parameter) const;
};

// "text/calendar; method=REQUEST". Fails with the rule: a type and a subtype, parameters of plain words (in quotes or
// not), none that the message has uses for itself; no multipart or message, which cannot be sent in base64.
base::Result<ContentType> parse_content_type(std::string_view text);

// From the first bytes, where they tell, then from the name's extension; application/octet-stream for the unknown.
std::string detect_content_type(std::string_view bytes, std::string_view name);

// Do the first bytes of everything of this type tell it, or what it is packed in? What begins otherwise is not of it.
bool is_told_by_bytes(std::string_view type);

}  // namespace postino::mail
