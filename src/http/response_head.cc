#include "http/response_head.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace postino::http {

namespace {

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char letter) { return letter == '\r' || letter == '\n' || letter == '\0'; });
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  if (!is_one_line(name) || !is_one_line(value)) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

void append_response_head(std::string& out, const Response& response, const ResponseContext& context) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(response.status));
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  out.append("Date: ").append(context.date).append("\r\n");
  if (response.stream) {
    // To an older client the end of the connection is the end of the body.
    if (!context.to_http_1_0) out += "Transfer-Encoding: chunked\r\n";
  } else if (has_body(response.status)) {
    out += "Content-Length: ";
    append_number(out, response.body.size());
    out += "\r\n";
  }
  if (!context.keep_alive)
    out += "Connection: close\r\n";
  else if (context.to_http_1_0)
    out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

}  // namespace postino::http
