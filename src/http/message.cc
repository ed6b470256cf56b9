#include "http/message.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace postino::http {

std::string_view Request::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return base::equal_ignoring_case(header.first, name); });
  return found == headers.end() ? std::string_view() : found->second;
}

bool Request::has_header(std::string_view name) const {
  return std::ranges::any_of(headers,
                             [&](const auto& header) { return base::equal_ignoring_case(header.first, name); });
}

std::string_view Request::media_type() const {
  std::string_view type = header("content-type");
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

bool Request::announces_large_body() const {
  constexpr std::size_t small_body_bytes = 4 << 10;
  const std::string_view text = header("content-length");
  if (text.empty()) return has_header("transfer-encoding");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  return error != std::errc() || length > small_body_bytes;
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

std::string_view reason_phrase(int status) {
  static constexpr std::pair<int, std::string_view> phrases[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {428, "Precondition Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const auto* const found = std::ranges::find(phrases, status, [](const auto& entry) { return entry.first; });
  return found == std::end(phrases) ? std::string_view() : found->second;
}

}  // namespace postino::http
