#include "app/server/mysql_recount.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/this_thread.h"
#include "mysql/connection.h"
#include "outbox/mysql_ledger/mysql_counts.h"

namespace postino::app {

namespace {

constexpr auto recount_interval = std::chrono::hours(1);
constexpr int recount_pause_per_time_spent = 100;

mysql::Result<int> recount_at(const mysql::ServerOptions& server) {
  TRY(const auto connection, mysql::Connection::open(server));
  return outbox::recount(*connection);
}

}  // namespace

MysqlRecount::MysqlRecount(mysql::ServerOptions server) : server_(std::move(server)) { server_.sockets = sockets_; }

MysqlRecount::~MysqlRecount() {
  is_ending_ = true;
  sockets_->break_off();
  if (thread_.joinable()) thread_.join();
}

void MysqlRecount::run_if_due() {
  if (Clock::now() < next_.load()) return;
  if (thread_.joinable()) thread_.join();  // it has ended
  next_ = Clock::time_point::max();
  thread_ = std::thread([this] { run(); });
}

void MysqlRecount::run() {
  base::name_thread("recount");
  const Clock::time_point began = Clock::now();
  const auto wrong = recount_at(server_);
  const Clock::time_point ended = Clock::now();
  if (!wrong && !is_ending_)
    base::log_warning("outbox", "the e-mails in the database could not be counted",
                      {{"error", mysql::as_error(wrong.error()).message}});
  else if (wrong && *wrong > 0)
    base::log_info("outbox", "counts differed from the e-mails that are there, and were corrected",
                   {{"counts", std::to_string(*wrong)}});
  next_ = ended + std::max<Clock::duration>(recount_interval, recount_pause_per_time_spent * (ended - began));
}

}  // namespace postino::app
