#include "http/raw_client_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/text.h"
#include "http/message.h"

namespace postino::http {

namespace {

constexpr int patience_seconds = 60;  // only a test that fails waits so long

}  // namespace

std::string RawResponse::header(std::string_view name) const {
  std::string_view rest = head;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    const std::size_t colon = line.find(": ");
    if (colon != line.npos && base::equal_ignoring_case(line.substr(0, colon), name))
      return std::string(line.substr(colon + 2));
  }
  return {};
}

RawClient::RawClient() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  CHECK(socket_);
  const timeval patience{patience_seconds, 0};
  ::setsockopt(descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int on = 1;
  ::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void RawClient::connect(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

bool RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void RawClient::finish_sending() const { ::shutdown(descriptor(), SHUT_WR); }

bool RawClient::fill() {
  std::array<char, 64 << 10> buffer{};
  const ssize_t count = ::recv(descriptor(), buffer.data(), buffer.size(), 0);
  if (count < 0) {
    CHECK(errno == ECONNRESET);
    reset_ = true;
  }
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

RawResponse RawClient::receive(bool with_body) {
  RawResponse response;
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos)
    if (!fill()) return {};
  response.head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  CHECK(response.head.starts_with("HTTP/1.1 ") && response.head.size() > 12);
  const std::string length = response.header("Content-Length");
  if (with_body && !length.empty()) {
    const std::size_t size = std::stoul(length);
    response.body = receive_bytes(size);
    if (response.body.size() < size) return {};
  }
  response.status = std::stoi(response.head.substr(9, 3));
  return response;
}

std::string RawClient::receive_bytes(std::size_t count) {
  while (received_.size() < count && fill()) {
  }
  std::string bytes = received_.substr(0, count);
  received_.erase(0, bytes.size());
  return bytes;
}

std::string RawClient::receive_all() {
  while (fill()) {
  }
  if (reset_) received_ += "(reset)";
  return std::exchange(received_, {});
}

bool RawClient::wait_for_reset() const {
  pollfd event{descriptor(), 0, 0};
  return ::poll(&event, 1, patience_seconds * 1000) == 1 && (event.revents & (POLLERR | POLLHUP)) != 0;
}

bool RawClient::is_readable(int milliseconds) const {
  pollfd event{descriptor(), POLLIN, 0};
  return ::poll(&event, 1, milliseconds) == 1;
}

}  // namespace postino::http
