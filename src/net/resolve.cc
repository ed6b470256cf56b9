#include "net/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/text.h"

namespace postino::net {

namespace {

// A lookup whose caller has given up still occupies a thread, until the system's resolver gives up too.
constexpr int max_lookups = 128;
std::atomic<int> lookups_under_way = 0;

auto lookup_failure(const std::string& host, const std::string& reason) {
  return base::fail(base::ErrorCode::io, "cannot find '" + host + "': " + reason);
}

// By convention such names never leave the machine, whatever a name server says.
bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < name.size() || !base::equal_ignoring_case(host.substr(host.size() - name.size()), name))
    return false;
  return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
}

std::string text_of(const addrinfo& info) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes = info.ai_family == AF_INET
                                ? static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(info.ai_addr)->sin_addr)
                                : &reinterpret_cast<sockaddr_in6*>(info.ai_addr)->sin6_addr;
  return ::inet_ntop(info.ai_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

// What the one who asks and the thread that looks share: either may be the last to need it.
struct Lookup {
  explicit Lookup(const std::string& wanted) : host(wanted) {}

  const std::string host;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::vector<std::string> found;
  std::string problem;
};

void look_up(const std::shared_ptr<Lookup>& lookup) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(lookup->host.c_str(), nullptr, &hints, &list);
  const int system_error = errno;
  std::lock_guard lock(lookup->mutex);
  if (error != 0)
    lookup->problem = error == EAI_SYSTEM ? std::generic_category().message(system_error) : ::gai_strerror(error);
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    std::string text = text_of(*info);
    if (std::ranges::find(lookup->found, text) == lookup->found.end()) lookup->found.push_back(std::move(text));
  }
  if (list != nullptr) ::freeaddrinfo(list);
  lookup->done = true;
  lookup->changed.notify_all();
}

// The system's resolver cannot be told to hurry, so it works in a thread of its own that is left behind if need be.
bool start(const std::shared_ptr<Lookup>& lookup) {
  if (++lookups_under_way <= max_lookups) {
    try {
      std::thread([lookup] {
        look_up(lookup);
        --lookups_under_way;
      }).detach();
      return true;
    } catch (const std::system_error&) {  // no thread to be had
    }
  }
  --lookups_under_way;
  return false;
}

// False when it takes too long.
bool await_answer(Lookup& lookup, std::unique_lock<std::mutex>& lock, Deadline deadline,
                  const ShutdownDeadline* shutdown_deadline) {
  // A shutdown deadline that is set does not wake the callers who wait here: they look for themselves.
  constexpr std::chrono::milliseconds look_every{100};
  while (true) {
    const Deadline end = shutdown_deadline != nullptr ? shutdown_deadline->limit(deadline) : deadline;
    const Deadline next = shutdown_deadline != nullptr ? std::min(end, deadline_in(look_every)) : end;
    if (lookup.changed.wait_until(lock, next, [&] { return lookup.done; })) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
  }
}

base::Result<std::vector<std::string>> ask_system(const std::string& host, Deadline deadline,
                                                  const ShutdownDeadline* shutdown_deadline) {
  if (host.empty() || host.find('\0') != host.npos) return lookup_failure(host, "not a name");
  const auto lookup = std::make_shared<Lookup>(host);
  if (!start(lookup)) return lookup_failure(host, "too many names are being looked up");
  std::unique_lock lock(lookup->mutex);
  if (!await_answer(*lookup, lock, deadline, shutdown_deadline)) return lookup_failure(host, "timed out");
  if (lookup->found.empty()) return lookup_failure(host, lookup->problem.empty() ? "no address" : lookup->problem);
  return std::move(lookup->found);
}

}  // namespace

base::Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, Deadline deadline,
                                           const ShutdownDeadline* shutdown_deadline) {
  std::vector<std::string> found;
  if (is_ip_address(host)) {
    found = {host};
  } else if (is_localhost(host)) {
    found = {"127.0.0.1", "::1"};
  } else {
    TRY(found, ask_system(host, deadline, shutdown_deadline));
  }
  std::vector<Address> addresses;
  for (std::string& address : found) addresses.push_back({std::move(address), port});
  return addresses;
}

}  // namespace postino::net
