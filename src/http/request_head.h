// The part of a client's request that stands before its body.
#pragma once

#include <string>

#include "base/result.h"
#include "http/client.h"

namespace postino::http {

// invalid when the request would not be what it seems to be: line ends where none belong, headers that are not the
// caller's to set, a URL that is none.
base::Result<void> check_request(const ClientRequest& request);

// Request line and headers, with the empty line that ends them.
std::string request_head(const ClientRequest& request);

}  // namespace postino::http
