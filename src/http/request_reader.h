// Makes requests of the bytes of a connection, one after the other. Knows nothing of sockets.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "http/body_budget.h"
#include "http/message.h"

namespace postino::http {

struct RequestLimits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 16 << 20;
};

class RequestReader {
 public:
  enum class Progress {
    need_more,  // feed() more bytes
    complete,   // there is a request(); next() goes on
    refused,    // answer refusal() and close; there is no way to go on
  };

  RequestReader(RequestLimits limits, std::shared_ptr<BodyBudget> budget);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Takes all of the bytes; those beyond the request are kept for next(). Only after need_more.
  Progress feed(std::string_view bytes);
  // Forgets the request and begins the next one with what has been sent ahead.
  Progress next();
  // Forgets everything, for use on another connection.
  void reset();
  // The bodies count as those of this address; nullptr, as after reset(), when the address does not matter.
  void charge_to(std::shared_ptr<AddressShare> address);

  // Has anything of a request arrived?
  bool started() const;
  bool header_done() const;
  // Of the body, so far.
  std::size_t body_bytes() const;
  // True once when the client waits to be told that it may send the body.
  bool take_expectation();

  // After complete, or without its body once the header is done. Its views are valid until the body is dropped, or
  // next() or reset() is called.
  Request& request();
  // Whether the client lets the connection go on after the response, as far as is known.
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool is_head() const;
  // Gives the memory of the body back before next() does.
  void drop_body();

  // After refused: the status that says why. 413, 431 and 503 are limits, everything else is not HTTP as we know it.
  int refusal() const;

 private:
  struct Message;
  class Parser;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::http
