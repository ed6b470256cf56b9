// The way of responses from any thread to the I/O thread of their connection.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "http/message.h"

namespace postino::http {

class Connection;
struct Exchange;

// Names one request among all of an I/O thread, and is never used again.
using RequestNumber = std::uint64_t;

class ResponseChannel {
 public:
  explicit ResponseChannel(boost::asio::io_context& context) : context_(&context) {}

  // Safe to call from any thread. After close() the response is dropped.
  void deliver(std::weak_ptr<Connection> connection, RequestNumber number, Response response);

  // The same for the next piece of a response: the connection asks for it.
  void wake(std::weak_ptr<Connection> connection, RequestNumber number);

  // From here on nothing reaches the I/O thread any more: it may end, and its io_context with it.
  void close();

  // On the I/O thread: calls the handler. Returns its response if it has answered before it returned.
  std::optional<Response> handle(const Handler& handler, const Request& request, RequestNumber number,
                                 Responder responder);

 private:
  struct Letter {
    std::weak_ptr<Connection> connection;
    RequestNumber number = 0;
    std::optional<Response> response;  // nothing: a wake
  };

  void send(Letter letter);
  void hand_out();

  // Only touched by the I/O thread.
  RequestNumber handling_ = 0;
  std::optional<Response> answered_;
  std::vector<Letter> opened_;

  std::mutex mutex_;
  boost::asio::io_context* context_;  // nullptr: closed
  std::vector<Letter> letters_;
};

// A responder for this request. It keeps the exchange, which the views of the request look into, until it is answered.
Responder make_responder(std::shared_ptr<ResponseChannel> channel, std::weak_ptr<Connection> connection,
                         RequestNumber number, std::shared_ptr<Exchange> exchange);

}  // namespace postino::http
