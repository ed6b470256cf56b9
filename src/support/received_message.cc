#include "support/received_message.h"

#include <utility>

#include "base/base64.h"
#include "mail/readable_text.h"

namespace postino::support {

namespace {

// Where the header of an e-mail ends.
std::size_t end_of_header(std::string_view email) {
  const std::size_t crlf = email.find("\r\n\r\n");
  const std::size_t lf = email.find("\n\n");
  if (crlf == std::string_view::npos && lf == std::string_view::npos) return email.size();
  return crlf < lf ? crlf + 2 : lf + 1;
}

}  // namespace

ReceivedMessage received_email(std::string_view email) {
  return {std::string(email.substr(0, end_of_header(email))), mail::readable_text(email)};
}

ReceivedMessage received_in(json::Fields& fields) {
  using Need = json::Fields::Need;
  constexpr std::size_t encoded_bytes = (ReceivedLimits::email + 2) / 3 * 4;
  const auto encoded = fields.text("message_base64", Need::optional, encoded_bytes);
  const auto headers = fields.text("headers", encoded ? Need::optional : Need::required, ReceivedLimits::headers);
  const auto text = fields.text("text", Need::optional, ReceivedLimits::text);
  if (!encoded) return {std::string(headers.value_or("")), std::string(text.value_or(""))};
  if (headers || text) fields.refuse("message_base64", "must not be given together with headers and text");
  const auto email = base::from_base64(*encoded);
  if (!email) {
    fields.refuse("message_base64", "must be base64");
    return {};
  }
  ReceivedMessage message = received_email(*email);
  if (message.headers.size() > ReceivedLimits::headers)
    fields.refuse("message_base64",
                  "must not have a header of more than " + std::to_string(ReceivedLimits::headers) + " bytes");
  return message;
}

}  // namespace postino::support
