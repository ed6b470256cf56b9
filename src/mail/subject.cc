#include "mail/subject.h"

#include <gmime/gmime.h>

#include "base/text.h"
#include "mail/gmime.h"

namespace postino::mail {

namespace {

// The value of the header as it stands in the message, folded. Lines end in CRLF, or in LF where a program has
// rewritten them.
std::string raw_header(std::string_view message, std::string_view name) {
  for (std::size_t begin = 0; begin < message.size();) {
    std::size_t end = message.find('\n', begin);
    // A line that begins with white space belongs to the one before.
    while (end != std::string_view::npos && end + 1 < message.size() &&
           (message[end + 1] == ' ' || message[end + 1] == '\t'))
      end = message.find('\n', end + 1);
    const std::string_view line = message.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (line.empty() || line == "\r") return "";
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && base::equal_ignoring_case(line.substr(0, colon), name))
      return std::string(line.substr(colon + 1));
    if (end == std::string_view::npos) return "";
    begin = end + 1;
  }
  return "";
}

}  // namespace

std::string subject_of(std::string_view message) {
  start_gmime();
  std::string value = raw_header(message, "Subject");
  std::erase_if(value, [](char character) { return character == '\r' || character == '\n'; });
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  char* decoded = g_mime_utils_header_decode_text(nullptr, value.c_str() + first);
  std::string subject = decoded;
  g_free(decoded);
  return subject;
}

}  // namespace postino::mail
