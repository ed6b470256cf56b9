// How bodies are written so that they pass any server (RFC 2045 section 6).
#pragma once

#include <string>
#include <string_view>

namespace postino::mail {

// Text with line ends of any kind becomes lines of at most 76 bytes that end with CRLF; the last one ends as the text
// does.
void append_quoted_printable(std::string& out, std::string_view text);

// The mark and the byte's two digits, base 16: "=C3".
void append_escaped(std::string& out, char mark, char byte);

// Base64 in lines of 76 bytes; there is no CRLF after the last one.
void append_base64_lines(std::string& out, std::string_view bytes);

}  // namespace postino::mail
