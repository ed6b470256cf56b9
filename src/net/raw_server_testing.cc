#include "net/raw_server_testing.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace postino::net {

bool RawPeer::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool RawPeer::fill() {
  std::array<char, 64 << 10> buffer{};
  const ssize_t count = ::recv(descriptor(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string RawPeer::receive_until(std::string_view end) {
  std::size_t found = 0;
  std::size_t searched = 0;
  while ((found = received_.find(end, searched)) == std::string::npos) {
    searched = received_.size() - std::min(received_.size(), end.size());
    if (!fill()) return std::exchange(received_, {});
  }
  std::string text = received_.substr(0, found + end.size());
  received_.erase(0, text.size());
  return text;
}

std::string RawPeer::receive(std::size_t bytes) {
  while (received_.size() < bytes && fill()) {
  }
  std::string text = received_.substr(0, bytes);
  received_.erase(0, text.size());
  return text;
}

void RawPeer::wait_for_end() {
  while (fill()) received_.clear();
}

bool RawPeer::is_readable(int milliseconds) const {
  pollfd event{descriptor(), POLLIN, 0};
  return ::poll(&event, 1, milliseconds) == 1;
}

void RawPeer::end_with_reset() const {
  const linger at_once{1, 0};
  ::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

LoopbackListener listen_on_loopback() {
  LoopbackListener listener{base::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const int socket = listener.socket.number();
  CHECK(::bind(socket, generic, size) == 0 && ::listen(socket, SOMAXCONN) == 0);
  CHECK(::getsockname(socket, generic, &size) == 0);
  listener.port = ntohs(address.sin_port);
  return listener;
}

RawServer::RawServer(Script script) : script_(std::move(script)), listener_(listen_on_loopback()) {
  thread_ = std::thread([this] { run(); });
}

RawServer::~RawServer() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    ::shutdown(listener_.socket.number(), SHUT_RDWR);
    if (served_ >= 0) ::shutdown(served_, SHUT_RDWR);
  }
  thread_.join();
}

void RawServer::run() {
  while (true) {
    base::Descriptor socket(::accept4(listener_.socket.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return;
      served_ = socket.number();
    }
    RawPeer peer(std::move(socket), ++connections_);
    script_(peer);
    std::lock_guard lock(mutex_);
    served_ = -1;
  }
}

}  // namespace postino::net
