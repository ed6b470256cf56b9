#include "http/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace postino::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr int accepts_at_a_time = 64;
constexpr std::chrono::milliseconds pause_time(50);

template <class NumericAddress>
std::string address_text(int family, const NumericAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, &address, text.data(), text.size()) == nullptr ? "" : text.data();
}

Peer peer_of(const sockaddr_storage& address) {
  in_addr v4{};
  if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) return {address_text(AF_INET6, v6), IN6_IS_ADDR_LOOPBACK(&v6) != 0};
    std::memcpy(&v4, v6.s6_addr + 12, sizeof v4);
  } else if (address.ss_family == AF_INET) {
    v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  }
  return {address_text(AF_INET, v4), ntohl(v4.s_addr) >> 24 == 127};
}

struct AddressDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressDeleter>;

base::Result<AddressList> resolve(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return base::invalid("cannot listen on '" + address + "': " + gai_strerror(error));
  return AddressList(found);
}

// 0 when it worked, else errno.
int bind_and_listen(int socket, const addrinfo& address) {
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return errno;
  // The sockets of accepted connections inherit it.
  if (::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) return errno;
  if (::bind(socket, address.ai_addr, address.ai_addrlen) != 0) return errno;
  return ::listen(socket, SOMAXCONN) == 0 ? 0 : errno;
}

}  // namespace

base::Result<base::Descriptor> listen_on(const std::string& address, std::uint16_t port) {
  TRY(const AddressList addresses, resolve(address, port));
  base::Descriptor socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int error = socket ? bind_and_listen(socket.number(), *addresses) : errno;
  if (error != 0)
    return base::fail(base::ErrorCode::io, "cannot listen on " + address + ":" + std::to_string(port) + ": " +
                                               std::generic_category().message(error));
  return socket;
}

base::Result<std::uint16_t> port_of(const base::Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return base::fail(base::ErrorCode::io, "the listening socket has no address");
  const bool v6 = address.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                  : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Listener::Listener(base::Descriptor socket, const std::vector<std::unique_ptr<IoThread>>& threads)
    : threads_(threads),
      state_(threads.front()->state()),
      socket_(threads.front()->context(), socket.release()),
      pause_(threads.front()->context()) {}

void Listener::wait() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
    if (!error && socket_.is_open()) accept_all();
  });
}

void Listener::accept_all() {
  for (int i = 0; i < accepts_at_a_time; ++i) {
    if (accept_one()) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    // A client that broke its connection off while it waited is no failure of the listener.
    if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO) continue;
    ++state_.accept_failures;
    return pause();
  }
  wait();
}

bool Listener::accept_one() {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  base::Descriptor socket(
      ::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return false;
  ++state_.accepted;
  if (state_.connections >= state_.options.max_connections)
    ++state_.refused;
  else
    least_busy().adopt(std::move(socket), peer_of(address));
  return true;
}

// Out of descriptors, most likely: what waits stays readable, so asking again at once would spin.
void Listener::pause() {
  pause_.expires_after(pause_time);
  pause_.async_wait([this](error_code error) {
    if (!error && socket_.is_open()) accept_all();
  });
}

IoThread& Listener::least_busy() const {
  return **std::ranges::min_element(threads_, {}, [](const auto& thread) { return thread->connection_count(); });
}

void Listener::close() {
  asio::post(socket_.get_executor(), [this] {
    error_code ignored;
    socket_.close(ignored);
    pause_.cancel();
  });
}

}  // namespace postino::http
