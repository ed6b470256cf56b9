// HTTP as handlers see it: a request that has arrived whole, and a response that leaves whole or piece by piece.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "http/body_stream.h"

namespace postino::http {

// Views into the connection's buffers: valid until the response has been handed in.
struct Request {
  std::string_view method;
  std::string_view target;  // path and query, as sent
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string_view body;
  bool secure = false;  // came over TLS
  bool from_loopback = true;
  std::string_view peer;  // the IP address that it came from

  // The first header of this name (any case); empty when there is none.
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;
  // The type of the body as Content-Type names it, without parameters; empty when it names none.
  std::string_view media_type() const;
  // Of one whose body has not come: whether it is too large to be read before it is known that it is wanted.
  bool announces_large_body() const;
  std::string_view path() const { return target.substr(0, target.find('?')); }
  std::string_view query() const;
};

// Date, Content-Length and Connection are added on the way out. A header with a line end in it is left out.
struct Response {
  int status = 200;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool close = false;  // end the connection after this response
  // What the body takes of ServerOptions::answers, if its maker has reserved it: given back when the client has it.
  std::shared_ptr<base::MemoryBudget::Share> memory = nullptr;
  // Comes instead of `body`, for as long as it lasts. 503 when there are too many (ServerOptions::max_streams).
  std::shared_ptr<BodyStream> stream = nullptr;
};

// Hands in the response: exactly once, from any thread, also after the server has stopped. Of two responses the first
// counts; a responder that is dropped without one answers 500.
using Responder = std::function<void(Response)>;

// Called on the connection's I/O thread; must not block for long. The next request of a connection is handled when the
// one before has been answered.
using Handler = std::function<void(const Request&, Responder)>;

// A letter that may not stand in a header or a chunk's line: everything below space but the tab, and DEL.
constexpr bool is_control(char letter) {
  return (static_cast<unsigned char>(letter) < 0x20 && letter != '\t') || letter == 0x7F;
}

// The reason phrase that belongs to a status; empty for one that is not known.
std::string_view reason_phrase(int status);

}  // namespace postino::http
