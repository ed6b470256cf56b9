#include "slow_receiver.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace postino::bench {

namespace {

constexpr std::chrono::seconds receiver_patience{120};

std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t first = text.find(begin);
  if (first == std::string::npos) return "";
  const std::size_t last = text.find(end, first + begin.size());
  return text.substr(first + begin.size(), last - first - begin.size());
}

}  // namespace

SlowReceiver::SlowReceiver(Delays delays, Session session)
    : delays_(std::move(delays)), session_(session), listener_(net::listen_on_loopback()) {
  acceptor_ = std::thread([this] { accept(); });
}

SlowReceiver::~SlowReceiver() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ::shutdown(listener_.socket.number(), SHUT_RDWR);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  acceptor_.join();
  for (std::thread& session : sessions_) session.join();
}

void SlowReceiver::accept() {
  for (int number = 1;; ++number) {
    base::Descriptor socket(::accept4(listener_.socket.number(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    if (socket.number() < 0) continue;
    // A reply does not wait until the client has acknowledged the one before.
    const int on = 1;
    ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockets_.push_back(socket.number());
    sessions_.emplace_back([this, number, peer_socket = std::move(socket)]() mutable {
      net::RawPeer peer(std::move(peer_socket), number);
      (this->*session_)(peer);
      const std::lock_guard ended(mutex_);
      std::erase(sockets_, peer.descriptor());
    });
  }
}

bool SlowReceiver::take(const std::string& whose) {
  std::unique_lock lock(mutex_);
  if (const auto delay = delays_.find(whose); delay != delays_.end())
    changed_.wait_for(lock, delay->second, [this] { return ending_; });
  taken_[whose].push_back(Clock::now());
  changed_.notify_all();
  return !ending_;
}

std::vector<SlowReceiver::Clock::time_point> SlowReceiver::await(const std::string& whose, std::size_t count) {
  std::unique_lock lock(mutex_);
  std::vector<Clock::time_point>& times = taken_[whose];
  while (times.size() < count) {
    const std::size_t before = times.size();
    if (changed_.wait_for(lock, receiver_patience, [&] { return times.size() > before; })) continue;
    std::fprintf(stderr, "bench: nothing more comes to %s\n", whose.c_str());
    std::exit(1);
  }
  return times;
}

void SlowReceiver::serve_smtp(net::RawPeer& peer) {
  if (!peer.send("220 slow.example ESMTP\r\n")) return;
  std::string domain;
  while (true) {
    const std::string line = peer.receive_until("\r\n");
    if (line.empty()) return;
    std::string reply = "250 ok\r\n";
    if (line.starts_with("EHLO")) reply = "250-slow.example\r\n250 PIPELINING\r\n";
    if (line.starts_with("RCPT")) domain = between(line, "@", ">");
    if (line.starts_with("DATA")) {
      if (!peer.send("354 go on\r\n") || peer.receive_until("\r\n.\r\n").empty() || !take(domain)) return;
    }
    if (line.starts_with("QUIT")) reply = "221 bye\r\n";
    if (!peer.send(reply)) return;
  }
}

void SlowReceiver::serve_http(net::RawPeer& peer) {
  while (true) {
    const std::string head = peer.receive_head();
    if (head.empty()) return;
    const std::string length = between(head, "ontent-Length: ", "\r\n");
    std::size_t bytes = 0;
    std::from_chars(length.data(), length.data() + length.size(), bytes);
    if (peer.receive(bytes).size() < bytes || !take(between(head, " ", " "))) return;
    if (!peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) return;
  }
}

}  // namespace postino::bench
