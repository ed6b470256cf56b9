// A client for tests that sends any bytes, at any pace, over a real socket.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace postino::http {

struct RawResponse {
  int status = 0;    // 0: the connection ended before a whole response came
  std::string head;  // status line and headers
  std::string body;

  std::string header(std::string_view name) const;
};

class RawClient {
 public:
  // Not connected yet.
  RawClient();
  explicit RawClient(std::uint16_t port) : RawClient() { connect(port); }

  void connect(std::uint16_t port);
  // False when the connection is broken.
  bool send(std::string_view bytes) const;
  void finish_sending() const;

  // The next response, with the body its Content-Length announces.
  RawResponse receive() { return receive(true); }
  RawResponse receive_head() { return receive(false); }
  // The next so many bytes, or fewer at the end of the connection.
  std::string receive_bytes(std::size_t count);
  // All that comes until the server closes. "(reset)" stands for a connection that does not end properly.
  std::string receive_all();
  // Waits until the connection is reset, reading nothing; false after a minute.
  bool wait_for_reset() const;
  // Is there something to read, or the end? Waits this long for it.
  bool is_readable(int milliseconds) const;

  int descriptor() const { return socket_.number(); }

 private:
  RawResponse receive(bool with_body);
  // False at the end of the connection.
  bool fill();

  base::Descriptor socket_;
  std::string received_;
  bool reset_ = false;
};

}  // namespace postino::http
