#include "net/local_ports_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <mutex>
#include <random>
#include <set>

#include "base/descriptor.h"

namespace postino::net {

namespace {

constexpr std::uint16_t lowest = 20'000;
constexpr std::uint16_t highest = 31'999;  // Linux gives away those from 32,768 on

// Does bind() or connect() succeed there?
bool succeeds(int (*call)(int, const sockaddr*, socklen_t), std::uint16_t port) {
  const base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return call(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

bool is_listening(std::uint16_t port) { return succeeds(::connect, port); }

std::uint16_t free_port() {
  static std::mutex mutex;
  static std::set<std::uint16_t> given;
  static std::mt19937 random{std::random_device()()};
  const std::lock_guard lock(mutex);
  std::uniform_int_distribution<int> any(lowest, highest);
  while (true) {
    const auto port = static_cast<std::uint16_t>(any(random));
    if (!given.contains(port) && succeeds(::bind, port)) {
      given.insert(port);
      return port;
    }
  }
}

}  // namespace postino::net
