#include "http_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace postino::bench {

namespace {

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "bench: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0) give_up("cannot make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) give_up("cannot connect");
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

std::string headers_of(const ApiRequest& request) {
  if (request.target.empty()) return "Content-Type: application/json\r\n";
  return "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: " + request.target +
         "\r\nX-Amz-Date: 20260102T030405Z\r\nAuthorization: AWS4-HMAC-SHA256 "
         "Credential=bench/20260102/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature="
         "0000000000000000000000000000000000000000000000000000000000000000\r\n";
}

// The size of the whole response once its head is there; 0 before.
std::size_t response_size(const std::string& buffer) {
  const std::size_t head = buffer.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  static constexpr std::string_view name = "content-length:";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto found =
      std::search(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(head), name.begin(), name.end(), same);
  std::size_t length = 0;
  std::size_t begin = static_cast<std::size_t>(found - buffer.begin()) + name.size();
  while (begin < head && buffer[begin] == ' ') ++begin;
  std::from_chars(buffer.data() + begin, buffer.data() + head, length);
  return head + 4 + length;
}

double percentile(std::vector<float>& times, double share) {
  if (times.empty()) return 0;
  const auto place = times.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

}  // namespace

struct HttpLoad::Connection {
  int socket = -1;
  std::string buffer;
  Clock::time_point sent;
  bool waiting = false;
};

HttpLoad::Rendered HttpLoad::render(const ApiRequest& request) {
  Rendered rendered;
  rendered.text = "POST " + request.path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers_of(request) +
                  "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
  for (std::size_t at = rendered.text.find(fresh_number); at != std::string::npos;
       at = rendered.text.find(fresh_number, at + 1))
    rendered.fresh.push_back(at);
  return rendered;
}

HttpLoad::HttpLoad(std::uint16_t port, int connections, const RequestSource& source, std::size_t distinct_requests)
    : poll_(::epoll_create1(0)), connections_(static_cast<std::size_t>(connections)) {
  for (std::size_t i = 0; i < distinct_requests; ++i) requests_.push_back(render(source(i)));
  for (Connection& connection : connections_) {
    connection.socket = connect_to(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, connection.socket, &event);
  }
}

HttpLoad::~HttpLoad() {
  for (const Connection& connection : connections_) ::close(connection.socket);
  ::close(poll_);
}

void HttpLoad::send_next(Connection& connection) {
  static std::uint64_t numbers = 0;
  Rendered& rendered = requests_[next_++ % requests_.size()];
  for (const std::size_t place : rendered.fresh) {
    std::array<char, fresh_number.size() + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llu", static_cast<unsigned long long>(++numbers));
    rendered.text.replace(place, fresh_number.size(), digits.data());
  }
  const std::string& request = rendered.text;
  connection.sent = Clock::now();
  connection.waiting = true;
  std::size_t done = 0;
  while (done < request.size()) {
    const ssize_t count = ::send(connection.socket, request.data() + done, request.size() - done, MSG_NOSIGNAL);
    if (count <= 0) give_up("cannot send");
    done += static_cast<std::size_t>(count);
  }
}

// True when the response is complete.
bool HttpLoad::receive(Connection& connection, LoadResult& result) {
  std::array<char, 64 << 10> chunk;
  const ssize_t count = ::recv(connection.socket, chunk.data(), chunk.size(), 0);
  if (count <= 0) give_up("the server closed a connection");
  connection.buffer.append(chunk.data(), static_cast<std::size_t>(count));
  const std::size_t size = response_size(connection.buffer);
  if (size == 0 || connection.buffer.size() < size) return false;
  if (!connection.buffer.starts_with("HTTP/1.1 2")) {
    if (result.failures++ == 0 && !quiet_) std::fprintf(stderr, "bench: %s\n", connection.buffer.c_str());
  }
  connection.buffer.erase(0, size);
  connection.waiting = false;
  ++result.answers;
  times_.push_back(std::chrono::duration<float, std::micro>(Clock::now() - connection.sent).count());
  return true;
}

LoadResult HttpLoad::run_while(const std::function<bool(Clock::time_point now, std::uint64_t sent)>& more) {
  LoadResult result;
  times_.clear();
  const auto begin = Clock::now();
  std::uint64_t sent = 0;
  for (Connection& connection : connections_) {
    if (!more(begin, sent)) break;
    send_next(connection);
    ++sent;
  }
  std::uint64_t busy = sent;
  std::array<epoll_event, 256> events{};
  auto last = begin;
  while (busy > 0) {
    const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), 10'000);
    if (count <= 0) give_up("no answer for ten seconds");
    last = Clock::now();
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!receive(connection, result)) continue;
      if (more(last, sent)) {
        send_next(connection);
        ++sent;
      } else {
        --busy;
      }
    }
  }
  result.per_second = static_cast<double>(result.answers) / std::chrono::duration<double>(last - begin).count();
  result.median_microseconds = percentile(times_, 0.5);
  result.p99_microseconds = percentile(times_, 0.99);
  return result;
}

LoadResult HttpLoad::run(Duration duration) {
  // At least one on each connection, even in no time.
  const auto end = Clock::now() + duration;
  const std::size_t first = connections_.size();
  return run_while([=](Clock::time_point now, std::uint64_t sent) { return sent < first || now < end; });
}

LoadResult HttpLoad::run_all(std::uint64_t requests) {
  return run_while([=](Clock::time_point, std::uint64_t sent) { return sent < requests; });
}

}  // namespace postino::bench
