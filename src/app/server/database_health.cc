#include "app/server/database_health.h"

#include "base/log.h"
#include "base/thread_name.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds interval{1'000};

// A database that does not answer this in time counts as unreachable.
mysql::ServerOptions impatient(mysql::ServerOptions server) {
  constexpr base::Milliseconds soon{2'000};
  server.connect_timeout = std::min(server.connect_timeout, soon);
  server.statement_timeout = std::min(server.statement_timeout, soon);
  server.lock_timeout = base::Milliseconds(1'000);
  return server;
}

}  // namespace

DatabaseHealth::DatabaseHealth(mysql::ServerOptions server)
    : server_(impatient(std::move(server))), thread_([this] { run(); }) {}

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
      changed = seen.has_value() != problem_.has_value();
      problem_ = seen;
    }
    if (changed && seen)
      base::log_error("outbox", "the database does not answer", {{"error", *seen}});
    else if (changed)
      base::log_info("outbox", "the database answers again");
    pause_.wait(interval);
  }
  connection_.reset();
}

std::optional<std::string> DatabaseHealth::look() {
  if (connection_ && connection_->ping()) return std::nullopt;
  connection_.reset();
  auto opened = mysql::Connection::open(server_);
  if (!opened) return "the database does not answer: " + opened.error().message;
  connection_ = std::move(*opened);
  return std::nullopt;
}

}  // namespace postino::app
