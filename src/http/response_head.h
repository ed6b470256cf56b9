// The part of a response that stands before its body.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace postino::http {

struct ResponseContext {
  std::string_view date;
  bool keep_alive = true;
  bool to_http_1_0 = false;
};

// Appends status line and headers, with the empty line that ends them.
void append_response_head(std::string& out, const Response& response, const ResponseContext& context);

// Whether a response of this status has a body at all.
bool has_body(int status);

}  // namespace postino::http
