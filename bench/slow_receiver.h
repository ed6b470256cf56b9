// A mail server or a receiver of callbacks that takes its time, as long for each domain or path as it is told.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "net/raw_server_testing.h"

namespace postino::bench {

class SlowReceiver {
 public:
  using Clock = std::chrono::steady_clock;
  // How long it takes for whom; others are served at once.
  using Delays = std::map<std::string, std::chrono::milliseconds>;

  // By SMTP; `delays` by the domain of the recipient, before the reply to the end of a message.
  static SlowReceiver of_mail(Delays delays) { return SlowReceiver(std::move(delays), &SlowReceiver::serve_smtp); }
  // By HTTP; `delays` by path, before the answer.
  static SlowReceiver of_callbacks(Delays delays) { return SlowReceiver(std::move(delays), &SlowReceiver::serve_http); }
  // Ends all connections.
  ~SlowReceiver();
  SlowReceiver(const SlowReceiver&) = delete;
  SlowReceiver& operator=(const SlowReceiver&) = delete;

  std::uint16_t port() const { return listener_.port; }
  // When each of them was taken, in order. Waits until there are that many; ends the process with a message when none
  // comes for a long time.
  std::vector<Clock::time_point> await(const std::string& whose, std::size_t count);

 private:
  using Session = void (SlowReceiver::*)(net::RawPeer&);

  SlowReceiver(Delays delays, Session session);
  void accept();
  void serve_smtp(net::RawPeer& peer);
  void serve_http(net::RawPeer& peer);
  // False when the receiver ends meanwhile.
  bool take(const std::string& whose);

  const Delays delays_;
  const Session session_;
  const net::LoopbackListener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::map<std::string, std::vector<Clock::time_point>> taken_;
  std::vector<int> sockets_;
  std::vector<std::thread> sessions_;
  std::thread acceptor_;
};

}  // namespace postino::bench
