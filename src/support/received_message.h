// A message of a customer, as a program or a mail system brings it.
#pragma once

#include <string>
#include <string_view>

#include "json/fields.h"

namespace postino::support {

// Decoded as far as a text: its header fields, one in a line as RFC 5322 has them, and its text in UTF-8.
struct ReceivedMessage {
  std::string headers;
  std::string text;
};

// Bytes. Of a text less is kept.
struct ReceivedLimits {
  static constexpr std::size_t headers = 200'000;
  static constexpr std::size_t text = 4 << 20;
  static constexpr std::size_t email = 4 << 20;
};

// Of an e-mail as it came: the text is its plain text, or what its HTML says, decoded. Attachments are left out.
ReceivedMessage received_email(std::string_view email);

// {"headers": ..., "text": ...}, or {"message_base64": ...}, which is an e-mail as it came. The errors of the fields
// tell what is wrong.
ReceivedMessage received_in(json::Fields& fields);

}  // namespace postino::support
