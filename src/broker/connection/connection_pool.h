// Connections that wait to be used again.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "broker/connection/connection.h"

namespace postino::broker {

// Safe to use from any thread. A connection that has waited too long is closed when the next one comes or goes.
class ConnectionPool {
 public:
  struct Limits {
    std::size_t all = 64;
    std::size_t each = 8;  // with the same key
    std::chrono::milliseconds time{60'000};
  };

  explicit ConnectionPool(const Limits& limits) : limits_(limits) {}

  // One with this key that is open still, the one used last; null when there is none.
  std::shared_ptr<Connection> take(const std::string& key);
  // Makes room by closing the one that has waited longest.
  void put(const std::string& key, std::shared_ptr<Connection> connection);
  // Closes the one that has waited longest. False when there is none.
  bool drop_oldest();

 private:
  struct Idle {
    std::string key;
    std::shared_ptr<Connection> connection;
    std::chrono::steady_clock::time_point since;
  };

  void drop(const std::deque<Idle>::iterator& idle);
  void drop_stale();

  const Limits limits_;
  std::mutex mutex_;
  std::deque<Idle> idle_;  // in the order they came
};

}  // namespace postino::broker
