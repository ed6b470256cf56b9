// A connection to a server, for plain synchronous code: every call ends by its deadline, one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/client_tls.h"
#include "net/shutdown_deadline.h"

namespace postino::net {

class ClientStream {
 public:
  // All failures are of code io; the message says what happened ("timed out", "connection refused"). No call of the
  // stream outlasts the shutdown deadline, if there is one.
  static base::Result<std::unique_ptr<ClientStream>> connect(
      const Address& to, Deadline deadline, std::shared_ptr<const ShutdownDeadline> shutdown_deadline = nullptr);
  ~ClientStream();  // closes at once
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  // From here on everything is encrypted. The certificate must be for `server_name`, a name or an IP address, unless
  // the context does not verify. After a failure the stream is of no use. A caller that has read ahead before must drop
  // what it has, or better give up: bytes that came in the clear may come from an attacker, and must not pass for what
  // the server says over TLS. The stream itself keeps none.
  base::Result<void> start_tls(const ClientTls& tls, const std::string& server_name, Deadline deadline);
  bool secure() const;

  base::Result<void> write(std::string_view bytes, Deadline deadline);
  // At least one byte; 0 when the peer has ended the stream. With TLS also when it ended without saying so: whether
  // something is missing is for the form of the bytes to tell.
  base::Result<std::size_t> read_some(char* buffer, std::size_t size, Deadline deadline);

  // Of an idle connection: is it unusable, because the peer has closed it or has sent something unasked?
  bool is_stale() const;

 private:
  struct Impl;
  explicit ClientStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::net
