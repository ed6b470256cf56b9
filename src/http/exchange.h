// What a connection needs from the first byte of a request to the last byte of its response. Resting connections have
// none; the I/O thread keeps a few to lend.
#pragma once

#include <memory>
#include <string>

#include "http/request_reader.h"

namespace postino::http {

struct Exchange {
  Exchange(RequestLimits limits, std::shared_ptr<BodyBudget> budget) : reader(limits, std::move(budget)) {}

  void reset() {
    reader.reset();
    drop_response();
  }
  void drop_response() {
    constexpr std::size_t kept_bytes = 64 << 10;
    head.clear();
    body.clear();
    if (body.capacity() > kept_bytes) std::string().swap(body);
    written = 0;
  }

  RequestReader reader;
  std::string peer;         // the client's IP address: a handler may still ask when the connection is gone
  std::string head;         // of the response
  std::string body;         // of the response
  std::size_t written = 0;  // of head and body
};

}  // namespace postino::http
