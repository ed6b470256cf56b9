// Looks every second whether the database answers and can be written, and what time it is there, so that others can
// tell without asking it themselves.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/this_thread.h"
#include "mysql/connection.h"
#include "mysql/database_clock.h"

namespace postino::app {

// Has a connection and a thread of its own. Safe to ask from any thread.
class DatabaseHealth {
 public:
  // The clock must outlive it; it is measured here only. One that is `quiet` tells the log nothing: another one does.
  DatabaseHealth(mysql::ServerOptions server, mysql::DatabaseClock& clock, bool quiet = false);
  ~DatabaseHealth();
  DatabaseHealth(const DatabaseHealth&) = delete;
  DatabaseHealth& operator=(const DatabaseHealth&) = delete;

  // Why it does not answer, or takes no writes, if that is so.
  std::optional<std::string> problem() const;

 private:
  void run();
  std::optional<std::string> look();
  void look_at_clock();

  const mysql::ServerOptions server_;
  mysql::DatabaseClock& clock_;
  const bool quiet_;
  bool is_skewed_ = false;
  std::unique_ptr<mysql::Connection> connection_;  // of the thread
  mutable std::mutex mutex_;
  std::optional<std::string> problem_;
  base::Pause pause_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace postino::app
