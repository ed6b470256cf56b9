#include "http/client.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "http/request_head.h"
#include "http/response_reader.h"
#include "net/idle_connections.h"
#include "net/resolve.h"

namespace postino::http {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_addresses = 8;  // that are tried for one request

// Leaves time to try the other addresses when one does not answer.
net::Deadline share_of(net::Deadline deadline, std::size_t addresses_left) {
  const auto now = Clock::now();
  return deadline <= now ? deadline : now + (deadline - now) / static_cast<int>(addresses_left);
}

// A connection is only good for the same kind of talk with the same peer, certificate and all.
std::string peer_of(const net::Url& url, const net::Address& address) {
  return (url.secure ? "https " : "http ") + base::lower_case(url.host) + " " + address.text();
}

}  // namespace

std::string_view ClientResponse::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return base::equal_ignoring_case(header.first, name); });
  return found == headers.end() ? std::string_view() : found->second;
}

struct Client::Impl {
  Impl(ClientOptions client_options, std::shared_ptr<net::ClientTls> client_tls)
      : options(std::move(client_options)),
        tls(std::move(client_tls)),
        idle(options.max_idle_connections, options.idle_time) {}

  struct Connection {
    std::string peer;
    std::unique_ptr<net::ClientStream> stream;
  };

  struct Exchange {
    base::Result<ClientResponse> response;
    bool answered = false;  // with a part of a response at least
  };

  // What is judged here is what is connected to. Asking for the name's addresses again might give others.
  base::Result<std::vector<net::Address>> find(const net::Url& url, net::Deadline deadline) const {
    TRY(std::vector<net::Address> addresses,
        net::resolve(url.host, url.port, deadline, options.shutdown_deadline.get()));
    if (!options.allow_private_addresses && !std::ranges::all_of(addresses, net::is_public))
      return base::invalid("the address of '" + url.host + "' is not a public one");
    if (addresses.size() > max_addresses) addresses.resize(max_addresses);
    return addresses;
  }

  Connection take_idle(const net::Url& url, const std::vector<net::Address>& addresses) {
    for (const net::Address& address : addresses) {
      std::string peer = peer_of(url, address);
      if (auto stream = idle.take(peer)) return {std::move(peer), std::move(stream)};
    }
    return {};
  }

  base::Result<Connection> connect(const net::Url& url, const std::vector<net::Address>& addresses,
                                   net::Deadline deadline) const {
    std::optional<base::Error> problem;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      auto stream =
          net::ClientStream::connect(addresses[i], share_of(deadline, addresses.size() - i), options.shutdown_deadline);
      if (!stream) {
        if (!problem) problem = std::move(stream).error();
        continue;
      }
      if (url.secure) TRY_VOID((*stream)->start_tls(*tls, url.host, deadline));
      return Connection{peer_of(url, addresses[i]), *std::move(stream)};
    }
    return base::propagate(*std::move(problem));
  }

  Exchange exchange(Connection connection, const ClientRequest& request, net::Deadline deadline) {
    net::ClientStream& stream = *connection.stream;
    ResponseReader reader(request.method == "HEAD", options.max_response_bytes);
    auto written = stream.write(request_head(request) + request.body, deadline);
    // A server that does not want the whole request may have said so before it closed.
    auto read = receive(stream, reader, deadline);
    if (!read) return {base::propagate((written ? read : written).error()), reader.started()};
    if (written && reader.connection_lasts()) idle.put(std::move(connection.peer), std::move(connection.stream));
    return {std::move(reader.response()), true};
  }

  static base::Result<void> receive(net::ClientStream& stream, ResponseReader& reader, net::Deadline deadline) {
    std::array<char, 16 << 10> buffer;
    while (true) {
      TRY(const std::size_t count, stream.read_some(buffer.data(), buffer.size(), deadline));
      if (count == 0) return reader.end();
      TRY(const bool complete, reader.feed({buffer.data(), count}));
      if (complete) return {};
    }
  }

  const ClientOptions options;
  const std::shared_ptr<net::ClientTls> tls;
  net::IdleConnections idle;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

base::Result<std::unique_ptr<Client>> Client::create(ClientOptions options) {
  TRY(std::shared_ptr<net::ClientTls> tls, net::ClientTls::create(options.tls));
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(std::move(options), std::move(tls))));
}

base::Result<ClientResponse> Client::follow(const ClientRequest& request, std::chrono::milliseconds silence,
                                            const std::function<bool(std::string_view part)>& take) {
  TRY_VOID(check_request(request));
  const net::Deadline deadline = Clock::now() + silence;
  TRY(const std::vector<net::Address> addresses, impl_->find(request.url, deadline));
  TRY(const Impl::Connection connection, impl_->connect(request.url, addresses, deadline));
  net::ClientStream& stream = *connection.stream;
  TRY_VOID(stream.write(request_head(request) + request.body, deadline));
  // All of it together may be as long as it is: what counts is what was not taken.
  ResponseReader reader(false, std::numeric_limits<std::size_t>::max() / 2);
  std::array<char, 16 << 10> buffer;
  while (true) {
    TRY(const std::size_t count, stream.read_some(buffer.data(), buffer.size(), Clock::now() + silence));
    if (count == 0) {
      TRY_VOID(reader.end());
      return std::move(reader.response());
    }
    TRY(const bool is_complete, reader.feed({buffer.data(), count}));
    const std::string part = reader.take_part();
    if (!part.empty() && !take(part)) return std::move(reader.response());
    if (is_complete) return std::move(reader.response());
    if (reader.response().body.size() > impl_->options.max_response_bytes)
      return base::fail(base::ErrorCode::io, "the response is too large");
  }
}

Client::Attempt Client::attempt(const ClientRequest& request, net::Deadline deadline) {
  const auto open = [&]() -> base::Result<Impl::Connection> {
    TRY_VOID(check_request(request));
    TRY(const std::vector<net::Address> addresses, impl_->find(request.url, deadline));
    if (Impl::Connection kept = impl_->take_idle(request.url, addresses); kept.stream) return kept;
    return impl_->connect(request.url, addresses, deadline);
  };
  auto connection = open();
  if (!connection) return {base::propagate(std::move(connection).error()), false};
  return {impl_->exchange(*std::move(connection), request, deadline).response, true};
}

base::Result<ClientResponse> Client::send(const ClientRequest& request, net::Deadline deadline) {
  TRY_VOID(check_request(request));
  TRY(const std::vector<net::Address> addresses, impl_->find(request.url, deadline));
  if (Impl::Connection kept = impl_->take_idle(request.url, addresses); kept.stream) {
    Impl::Exchange exchange = impl_->exchange(std::move(kept), request, deadline);
    if (exchange.response || exchange.answered || Clock::now() >= deadline) return std::move(exchange.response);
  }
  TRY(Impl::Connection connection, impl_->connect(request.url, addresses, deadline));
  return impl_->exchange(std::move(connection), request, deadline).response;
}

}  // namespace postino::http
