// Bytes in one of the world's charsets as UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// What cannot be converted becomes a question mark. Without a charset, or with one that is not known, the bytes are
// UTF-8 if they can be, and Windows-1252 otherwise. Those of UTF-8 itself stay as they are, right or wrong. Only
// charsets that mail is written in are known: a stranger chooses the name, and not every converter of a system is safe.
std::string to_utf8(std::string_view bytes, std::string_view charset);

}  // namespace postino::mail
