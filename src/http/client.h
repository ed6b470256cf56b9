// An HTTP/1.1 client for plain synchronous code: connections are kept and used again, redirects are not followed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/client_stream.h"
#include "net/url.h"

namespace postino::http {

struct ClientOptions {
  bool allow_private_addresses = false;  // otherwise names and addresses that lead into private networks are refused
  net::ClientTlsOptions tls;
  std::size_t max_response_bytes = 1 << 20;
  std::size_t max_idle_connections = 64;  // in all
  std::chrono::seconds idle_time{30};
  std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline;  // no request outlasts it; may be null
};

struct ClientRequest {
  std::string method = "GET";
  net::Url url;
  std::vector<std::pair<std::string, std::string>> headers;  // Host and Content-Length come by themselves
  std::string body;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string_view header(std::string_view name) const;  // any case; empty when there is none
};

// Safe to call from any thread.
class Client {
 public:
  static base::Result<std::unique_ptr<Client>> create(ClientOptions options);
  ~Client();

  // invalid when the address is refused (any of a name's is enough) or the request is not well formed: line ends in
  // headers, headers that are not the caller's to set. io for everything that goes wrong on the way. A request that met
  // a kept connection which turned out to be dead before any byte of a response is sent again on a new one.
  base::Result<ClientResponse> send(const ClientRequest& request, net::Deadline deadline);

  // One exchange, for callers who must know what may have become of a request that was not answered: it is never sent a
  // second time. Errors are those of send().
  struct Attempt {
    base::Result<ClientResponse> response;
    bool was_sent = false;  // a part of the request at least may have reached the server
  };
  Attempt attempt(const ClientRequest& request, net::Deadline deadline);

  // Like send() for a response that goes on: `take` gets what came of its body, part by part, for as long as it answers
  // true. The response that is returned has what is left. io also when nothing came for `silence`.
  base::Result<ClientResponse> follow(const ClientRequest& request, std::chrono::milliseconds silence,
                                      const std::function<bool(std::string_view part)>& take);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::http
