// What a message must be like before it can be made into bytes.
#pragma once

#include "base/result.h"
#include "mail/message.h"

namespace postino::mail {

// Everything but addresses, attachments' types and images, which show when they are written. The error names the field
// and the rule: "subject must be UTF-8".
base::Result<void> check_message(const Message& message);

// Puts the field before the rule of a failure.
template <class T>
base::Result<T> in_field(std::string_view field, base::Result<T> result) {
  if (result) return result;
  return base::fail(result.error().code, std::string(field).append(" ").append(result.error().message));
}

// "to[2]"
std::string field_name(std::string_view list, std::size_t number);

}  // namespace postino::mail
