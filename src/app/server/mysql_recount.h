// Makes the counts of e-mails in the database true again now and then: other programs may delete rows.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "mysql/open_sockets.h"
#include "mysql/server_options.h"

namespace postino::app {

// In a thread of its own, because it looks at all rows. Once an hour, and the less often the longer it takes. For one
// caller.
class MysqlRecount {
 public:
  explicit MysqlRecount(mysql::ServerOptions server);
  // Breaks off what is under way.
  ~MysqlRecount();
  MysqlRecount(const MysqlRecount&) = delete;
  MysqlRecount& operator=(const MysqlRecount&) = delete;

  void run_if_due();

 private:
  using Clock = std::chrono::steady_clock;

  void run();

  const std::shared_ptr<mysql::OpenSockets> sockets_ = std::make_shared<mysql::OpenSockets>();
  mysql::ServerOptions server_;
  std::atomic<Clock::time_point> next_ = Clock::time_point();  // the end of time while it is under way
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace postino::app
