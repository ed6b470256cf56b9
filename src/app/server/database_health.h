// Looks every second whether the database answers, so that others can tell without asking it themselves.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/pause.h"
#include "mysql/connection.h"

namespace postino::app {

// Has a connection and a thread of its own. Safe to ask from any thread.
class DatabaseHealth {
 public:
  explicit DatabaseHealth(mysql::ServerOptions server);
  ~DatabaseHealth();
  DatabaseHealth(const DatabaseHealth&) = delete;
  DatabaseHealth& operator=(const DatabaseHealth&) = delete;

  // Why it does not answer, if it does not.
  std::optional<std::string> problem() const;

 private:
  void run();
  std::optional<std::string> look();

  const mysql::ServerOptions server_;
  std::unique_ptr<mysql::Connection> connection_;  // of the thread
  mutable std::mutex mutex_;
  std::optional<std::string> problem_;
  base::Pause pause_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace postino::app
