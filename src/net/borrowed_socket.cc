#include "net/borrowed_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace postino::net {

namespace {

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

// How many bytes there must be before the socket counts as readable.
void set_least_readable(int descriptor, std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &count, sizeof count);
}

}  // namespace

BorrowedSocket::Events BorrowedSocket::wait_for(Events wanted, Deadline deadline) const {
  pollfd entry{descriptor_, 0, 0};
  if (wanted.readable) entry.events |= POLLIN;
  if (wanted.writable) entry.events |= POLLOUT;
  int count = 0;
  do {
    count = ::poll(&entry, 1, milliseconds_until(deadline));
  } while (count < 0 && errno == EINTR);
  const bool broken = count < 0 || (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
  return {wanted.readable && (broken || (entry.revents & POLLIN) != 0),
          wanted.writable && (broken || (entry.revents & POLLOUT) != 0)};
}

std::string BorrowedSocket::peek(std::size_t least, Deadline deadline) const {
  std::array<char, 4'096> buffer;
  const std::size_t wanted = std::min(least, buffer.size());
  set_least_readable(descriptor_, wanted);
  const bool readable = wait_for({.readable = true}, deadline).readable;
  set_least_readable(descriptor_, 1);
  if (!readable) return {};
  const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_PEEK | MSG_DONTWAIT);
  return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

void BorrowedSocket::shut_down() const { ::shutdown(descriptor_, SHUT_RDWR); }

base::Descriptor BorrowedSocket::duplicate() const {
  return base::Descriptor(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
}

}  // namespace postino::net
