// What an e-mail of a stranger says, for people.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// Its text in UTF-8, decoded from base64 or quoted-printable and from its charset: the first plain text that is not an
// attachment, or what the first HTML says. Empty when there is neither. A message that claims to have parts and has
// none is taken as it is. Takes time in proportion to the message whatever is in it: of parts within parts, five levels
// count.
std::string readable_text(std::string_view message);

}  // namespace postino::mail
