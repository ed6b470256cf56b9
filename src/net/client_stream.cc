#include "net/client_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "net/openssl.h"
#include "net/tls_socket.h"

namespace postino::net {

namespace {

using Clock = std::chrono::steady_clock;

auto io_failure(std::string message) { return base::fail(base::ErrorCode::io, std::move(message)); }

std::string reason_of(int error) {
  std::string reason = std::generic_category().message(error);
  if (!reason.empty()) reason.front() = base::lower(reason.front());
  return reason;
}

auto connect_failure(int error) {
  const base::Rule rule = error == ECONNREFUSED ? base::Rule::listening : base::Rule::other;
  return tl::unexpected<base::Error>(base::Error{base::ErrorCode::io, reason_of(error), rule});
}

// Until when a call may last.
struct Limit {
  Deadline deadline;
  const ShutdownDeadline* shutdown_deadline = nullptr;  // may be set while the call waits

  Deadline when() const { return shutdown_deadline != nullptr ? shutdown_deadline->limit(deadline) : deadline; }
};

// Asked before every step, not only before waiting: a peer that always has something to say must not keep us.
base::Result<void> in_time(const Limit& limit) {
  if (Clock::now() >= limit.when()) return io_failure("timed out");
  return {};
}

base::Result<void> wait(int socket, short events, const Limit& limit) {
  while (true) {
    const bool may_be_shortened = limit.shutdown_deadline != nullptr && !limit.shutdown_deadline->is_set();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit.when() - Clock::now()).count();
    if (left <= 0) return io_failure("timed out");
    std::array<pollfd, 2> awaited{
        {{socket, events, 0}, {may_be_shortened ? limit.shutdown_deadline->descriptor() : -1, POLLIN, 0}}};
    const auto longest = std::min<decltype(left)>(left, std::numeric_limits<int>::max());
    const int ready = ::poll(awaited.data(), awaited.size(), static_cast<int>(longest));
    if (ready > 0 && awaited[0].revents != 0) return {};
    if (ready < 0 && errno != EINTR) return io_failure(reason_of(errno));
  }
}

// The size of what was made, 0 when the host is not an IP address.
socklen_t make_socket_address(const Address& from, sockaddr_storage& out) {
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  if (::inet_pton(AF_INET, from.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(from.port);
    return sizeof v4;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
  if (::inet_pton(AF_INET6, from.host.c_str(), &v6.sin6_addr) != 1) return 0;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(from.port);
  return sizeof v6;
}

base::Result<base::Descriptor> open_socket(const Address& to, const Limit& limit) {
  sockaddr_storage address{};
  const socklen_t size = make_socket_address(to, address);
  if (size == 0) return io_failure("not an IP address");
  TRY_VOID(in_time(limit));
  base::Descriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return io_failure(reason_of(errno));
  const int on = 1;
  ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return socket;
  if (errno != EINPROGRESS && errno != EINTR) return connect_failure(errno);
  TRY_VOID(wait(socket.number(), POLLOUT, limit));
  int error = 0;
  socklen_t error_size = sizeof error;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &error_size) != 0) error = errno;
  if (error != 0) return connect_failure(error);
  return socket;
}

// Says which name the certificate must bear, and to the server which one is wanted. An address is never announced.
bool set_server_name(SSL* ssl, std::string name, bool verify) {
  X509_VERIFY_PARAM* const parameters = SSL_get0_param(ssl);
  if (is_ip_address(name)) return !verify || X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str()) == 1;
  if (name.ends_with('.')) name.pop_back();
  // To OpenSSL, an empty name means that any name will do.
  if (name.empty() || name.find('\0') != name.npos) return !verify && name.empty();
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (verify && X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size()) != 1) return false;
  return SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

}  // namespace

struct ClientStream::Impl {
  Impl(base::Descriptor connected, std::shared_ptr<const ShutdownDeadline> shared)
      : socket(std::move(connected)), shutdown_deadline(std::move(shared)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (!ssl || broken) return;
    ERR_clear_error();
    SSL_shutdown(ssl.get());
  }

  // Calls a function of OpenSSL until it succeeds. False when the peer has ended the stream, whether or not it said so
  // first: those who must know that nothing is missing see it by the form of what they read.
  template <class Call>
  base::Result<bool> run(Deadline deadline, Call call) {
    while (true) {
      TRY_VOID(in_time(limit(deadline)));
      ERR_clear_error();
      errno = 0;
      const int result = call();
      if (result == 1) return true;
      const int error = errno;
      switch (SSL_get_error(ssl.get(), result)) {
        case SSL_ERROR_WANT_READ:
          TRY_VOID(wait(socket.number(), POLLIN, limit(deadline)));
          break;
        case SSL_ERROR_WANT_WRITE:
          TRY_VOID(wait(socket.number(), POLLOUT, limit(deadline)));
          break;
        case SSL_ERROR_ZERO_RETURN:
          return false;
        case SSL_ERROR_SYSCALL:
          broken = true;
          if (error == 0) return false;
          return io_failure(reason_of(error));
        default:
          broken = true;
          return io_failure("TLS: " + take_openssl_reason());
      }
    }
  }

  base::Result<void> shake_hands(const std::string& server_name, Deadline deadline) {
    broken = true;
    TRY(const bool done, run(deadline, [this] { return SSL_connect(ssl.get()); }));
    broken = !done;
    if (done) return {};
    return io_failure("the server has closed the connection instead of starting TLS with '" + server_name + "'");
  }

  base::Result<void> send(std::string_view bytes, Deadline deadline) const {
    while (!bytes.empty()) {
      TRY_VOID(in_time(limit(deadline)));
      const ssize_t count = ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      if (!base::is_temporary(errno)) return io_failure(reason_of(errno));
      TRY_VOID(wait(socket.number(), POLLOUT, limit(deadline)));
    }
    return {};
  }

  base::Result<void> send_encrypted(std::string_view bytes, Deadline deadline) {
    if (broken) return io_failure("the connection is broken");
    broken = true;  // unless all of it gets out
    while (!bytes.empty()) {
      std::size_t count = 0;
      TRY(const bool sent, run(deadline, [&] { return SSL_write_ex(ssl.get(), bytes.data(), bytes.size(), &count); }));
      if (!sent) return io_failure("the server has closed the connection");
      bytes.remove_prefix(count);
    }
    broken = false;
    return {};
  }

  base::Result<std::size_t> receive(char* buffer, std::size_t size, Deadline deadline) const {
    while (true) {
      TRY_VOID(in_time(limit(deadline)));
      const ssize_t count = ::recv(socket.number(), buffer, size, 0);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (!base::is_temporary(errno)) return io_failure(reason_of(errno));
      TRY_VOID(wait(socket.number(), POLLIN, limit(deadline)));
    }
  }

  // Looks at what comes next. Of TLS, the server may have sent what is not for us but for the protocol itself.
  bool is_silent() {
    char byte = 0;
    if (!ssl) return ::recv(socket.number(), &byte, 1, MSG_PEEK) < 0 && base::is_temporary(errno);
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_peek_ex(ssl.get(), &byte, 1, &count);
    if (result == 1) return false;
    const int error = SSL_get_error(ssl.get(), result);
    if (error == SSL_ERROR_WANT_READ) return true;
    broken = broken || error != SSL_ERROR_ZERO_RETURN;
    return false;
  }

  Limit limit(Deadline deadline) const { return {deadline, shutdown_deadline.get()}; }

  base::Descriptor socket;
  const std::shared_ptr<const ShutdownDeadline> shutdown_deadline;  // may be null
  SslPointer ssl;                                                   // null as long as it is in the clear
  bool broken = false;  // by TLS's rules nothing more may be sent, not even a good-bye
};

ClientStream::ClientStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientStream::~ClientStream() = default;

base::Result<std::unique_ptr<ClientStream>> ClientStream::connect(
    const Address& to, Deadline deadline, std::shared_ptr<const ShutdownDeadline> shutdown_deadline) {
  auto socket = open_socket(to, {deadline, shutdown_deadline.get()});
  if (!socket) {
    socket.error().message.insert(0, "cannot connect to " + to.text() + ": ");
    return base::propagate(std::move(socket).error());
  }
  return std::unique_ptr<ClientStream>(
      new ClientStream(std::make_unique<Impl>(*std::move(socket), std::move(shutdown_deadline))));
}

base::Result<void> ClientStream::start_tls(const ClientTls& tls, const std::string& server_name, Deadline deadline) {
  if (secure()) return io_failure("TLS has been started before");
  SslPointer ssl(SSL_new(tls.context().get()));
  BIO* const bio = make_socket_bio(impl_->socket.number());
  if (!ssl || bio == nullptr) {
    BIO_free(bio);
    return io_failure("no memory for TLS");
  }
  SSL_set_bio(ssl.get(), bio, bio);
  if (!set_server_name(ssl.get(), server_name, tls.verifies()))
    return io_failure("no certificate can be for the name '" + server_name + "'");
  impl_->ssl = std::move(ssl);
  auto done = impl_->shake_hands(server_name, deadline);
  const long verdict = SSL_get_verify_result(impl_->ssl.get());
  if (!done && tls.verifies() && verdict != X509_V_OK)
    return io_failure("the server's certificate is not accepted for '" + server_name +
                      "': " + X509_verify_cert_error_string(verdict));
  return done;
}

bool ClientStream::secure() const { return impl_->ssl != nullptr; }

base::Result<void> ClientStream::write(std::string_view bytes, Deadline deadline) {
  return secure() ? impl_->send_encrypted(bytes, deadline) : impl_->send(bytes, deadline);
}

base::Result<std::size_t> ClientStream::read_some(char* buffer, std::size_t size, Deadline deadline) {
  CHECK(size > 0);
  if (!secure()) return impl_->receive(buffer, size, deadline);
  std::size_t count = 0;
  TRY(const bool more, impl_->run(deadline, [&] { return SSL_read_ex(impl_->ssl.get(), buffer, size, &count); }));
  return more ? count : 0;
}

bool ClientStream::is_stale() const { return impl_->broken || !impl_->is_silent(); }

}  // namespace postino::net
