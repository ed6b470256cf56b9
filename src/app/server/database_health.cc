#include "app/server/database_health.h"

#include "base/log.h"
#include "base/this_thread.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds interval{1'000};
constexpr base::Milliseconds notable_skew{5'000};

// A database that does not answer this in time counts as unreachable.
mysql::ServerOptions impatient(mysql::ServerOptions server) {
  constexpr base::Milliseconds soon{2'000};
  server.connect_timeout = std::min(server.connect_timeout, soon);
  server.statement_timeout = std::min(server.statement_timeout, soon);
  server.lock_timeout = base::Milliseconds(1'000);
  return server;
}

}  // namespace

DatabaseHealth::DatabaseHealth(mysql::ServerOptions server, mysql::DatabaseClock& clock, bool quiet)
    : server_(impatient(std::move(server))), clock_(clock), quiet_(quiet), thread_([this] { run(); }) {}

DatabaseHealth::~DatabaseHealth() {
  ended_ = true;
  pause_.end();
  thread_.join();
}

std::optional<std::string> DatabaseHealth::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void DatabaseHealth::run() {
  base::name_thread("database-health");
  while (!ended_) {
    std::optional<std::string> seen = look();
    bool changed = false;
    {
      const std::lock_guard lock(mutex_);
      changed = !quiet_ && seen.has_value() != problem_.has_value();
      problem_ = seen;
    }
    if (changed && seen)
      base::log_error("outbox", "the database cannot be used", {{"error", *seen}});
    else if (changed)
      base::log_info("outbox", "the database can be used again");
    pause_.wait(interval);
  }
  connection_.reset();
}

void DatabaseHealth::look_at_clock() {
  if (!clock_.measure(*connection_)) return;
  const base::Milliseconds skew = clock_.skew();
  if (quiet_) return;
  const bool skewed = std::chrono::abs(skew) > notable_skew;
  if (skewed && !is_skewed_)
    base::log_warning("outbox", "the clock of this machine differs from the database's, which e-mails live by",
                      {{"seconds_ahead", std::to_string(skew.count() / 1'000)}});
  else if (!skewed && is_skewed_)
    base::log_info("outbox", "the clock of this machine is that of the database again");
  is_skewed_ = skewed;
}

std::optional<std::string> DatabaseHealth::look() {
  if (!connection_ || !connection_->ping()) {
    connection_.reset();
    auto opened = mysql::Connection::open(server_);
    if (!opened) return "the database does not answer: " + opened.error().message;
    connection_ = std::move(*opened);
  }
  look_at_clock();
  // Changes nothing, but is refused by a server that only reads.
  const auto written = connection_->execute("DELETE FROM email_accept_keys WHERE key_hash = ''");
  if (!written) {
    connection_.reset();
    return "the database takes no writes: " + written.error().message;
  }
  return std::nullopt;
}

}  // namespace postino::app
