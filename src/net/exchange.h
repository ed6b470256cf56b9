// What a connection needs from the first byte of a request to the last byte of its response. Resting connections have
// none; the I/O thread keeps a few to lend.
#pragma once

#include <memory>
#include <string>

#include "net/request_reader.h"

namespace postino::net {

struct Exchange {
  Exchange(RequestLimits limits, std::shared_ptr<BodyBudget> budget) : reader(limits, std::move(budget)) {}

  void reset() {
    constexpr std::size_t kept_bytes = 64 << 10;
    reader.reset();
    head.clear();
    body.clear();
    if (body.capacity() > kept_bytes) std::string().swap(body);
    written = 0;
  }

  RequestReader reader;
  std::string head;         // of the response
  std::string body;         // of the response
  std::size_t written = 0;  // of head and body
};

}  // namespace postino::net
