// Makes a response of the bytes that a server sends. Knows nothing of sockets.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client.h"

namespace postino::http {

class ResponseReader {
 public:
  // The response to a HEAD has no body, whatever its headers say.
  ResponseReader(bool to_head, std::size_t max_body_bytes);
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  // True when the response is complete; else more is needed. Fails (io) on what is not HTTP, or exceeds a limit.
  base::Result<bool> feed(std::string_view bytes);
  // The server has ended the stream: fails unless the end of the stream is the end of the response.
  base::Result<void> end();

  // What has come of a body in chunks since the last call, while the response goes on; it is not kept. Empty unless the
  // response is a success.
  std::string take_part();

  // Has anything of a response arrived?
  bool started() const;
  // After it is complete.
  ClientResponse& response();
  // After it is complete: may another request go over the same connection?
  bool connection_lasts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::http
