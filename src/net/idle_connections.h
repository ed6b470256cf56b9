// Connections that wait to be used again.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "net/client_stream.h"

namespace postino::net {

// Safe to use from any thread. A connection that has waited too long is closed when the next one comes or goes.
class IdleConnections {
 public:
  IdleConnections(std::size_t limit, std::chrono::seconds idle_time) : limit_(limit), idle_time_(idle_time) {}

  // One to this peer that seems to be alive, the one used last; nullptr when there is none.
  std::unique_ptr<ClientStream> take(const std::string& peer);
  // Makes room by closing the one that has waited longest.
  void put(std::string peer, std::unique_ptr<ClientStream> stream);

 private:
  struct Idle {
    std::string peer;
    std::unique_ptr<ClientStream> stream;
    std::chrono::steady_clock::time_point since;
  };

  // Gives those that have waited too long, for the caller to close without the lock.
  std::deque<Idle> remove_expired();

  const std::size_t limit_;
  const std::chrono::seconds idle_time_;
  std::mutex mutex_;
  std::deque<Idle> idle_;  // in the order they came
};

}  // namespace postino::net
