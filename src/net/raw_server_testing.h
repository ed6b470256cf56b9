// A server for tests that treats its clients in any way, over real sockets.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/descriptor.h"

namespace postino::net {

// The server's side of a connection.
class RawPeer {
 public:
  RawPeer(base::Descriptor socket, int number) : socket_(std::move(socket)), number_(number) {}

  // Which of the server's connections it is; the first is 1.
  int number() const { return number_; }
  // False when the connection is broken.
  bool send(std::string_view bytes) const;
  // Reads until this has come; what follows is kept for the next call. Less when the client ends the connection.
  std::string receive_until(std::string_view end);
  // So many bytes. Less when the client ends the connection.
  std::string receive(std::size_t bytes);
  std::string receive_head() { return receive_until("\r\n\r\n"); }
  void wait_for_end();
  // Waits this long for the client to send something or to close; true when it does.
  bool is_readable(int milliseconds) const;
  // Once the script is done, the client will see a broken connection instead of an end.
  void end_with_reset() const;

  int descriptor() const { return socket_.number(); }

 private:
  bool fill();

  base::Descriptor socket_;
  const int number_;
  std::string received_;
};

// Takes connections on a port of 127.0.0.1 that the system has chosen.
struct LoopbackListener {
  base::Descriptor socket;
  std::uint16_t port = 0;
};
LoopbackListener listen_on_loopback();

class RawServer {
 public:
  // What to do with a connection, before it is closed. Connections are served one after the other.
  using Script = std::function<void(RawPeer&)>;

  explicit RawServer(Script script);
  // Ends the connection that is being served.
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const { return listener_.port; }
  // How many have been taken so far.
  int connections() const { return connections_; }

 private:
  void run();

  const Script script_;
  const LoopbackListener listener_;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  bool stopped_ = false;
  int served_ = -1;
  std::thread thread_;
};

}  // namespace postino::net
