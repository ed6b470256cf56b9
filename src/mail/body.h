// The body of a message: its parts (RFC 2045, 2046, 2387), each with the headers that say what it is.
#pragma once

#include <string>

#include "base/result.h"
#include "mail/message.h"

namespace postino::mail {

// Appends the Content- headers of the message, the empty line and the body. The message must have passed check_message.
base::Result<void> append_body(std::string& out, const Message& message);

}  // namespace postino::mail
