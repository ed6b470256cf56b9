// The sockets of connections, also of those that are being opened. When the process ends, no thread waits any longer
// for a database that is silent.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/descriptor.h"

namespace postino::mysql {

// Safe to use from any thread.
class OpenSockets {
 public:
  // False when it is too late for new connections,
  // or no descriptor is left.
  bool add(int socket);
  void remove(int socket);
  // Ends all connections, also for threads that wait for an answer.
  void break_off();

 private:
  std::mutex mutex_;
  std::set<int> sockets_;
  bool is_broken_off_ = false;
};

// The entry of one connection. It has a descriptor of its own: the library closes its sockets when it likes, and their
// numbers are used again.
class SocketEntry {
 public:
  explicit SocketEntry(std::shared_ptr<OpenSockets> sockets) : sockets_(std::move(sockets)) {}  // may be null
  SocketEntry(SocketEntry&& other) noexcept = default;
  SocketEntry& operator=(SocketEntry&&) = delete;
  ~SocketEntry() { clear(); }

  // The connection has this socket of the library now. False when it is too late for new connections,
  // or no descriptor is left.
  [[nodiscard]] bool set(int socket);
  void clear();

 private:
  std::shared_ptr<OpenSockets> sockets_;
  base::Descriptor own_;
};

}  // namespace postino::mysql
