#include "app/server/server_lock.h"

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/log.h"
#include "base/this_thread.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds between_looks{100};  // for a predecessor
constexpr std::chrono::milliseconds look_interval{1'000};
// Locks are exclusive: servers that share a database take one each.
constexpr int most_servers = 64;

// Names of locks are those of the whole server, and short.
std::string hash_of(const std::string& database) { return base::to_hex(base::sha256(database)).substr(0, 32); }
std::string sole_lock(const std::string& database) { return "postino-server-" + hash_of(database); }
std::string shared_lock(const std::string& database, int slot) {
  return "postino-several-" + hash_of(database) + "-" + std::to_string(slot);
}

base::Result<bool> get_lock(mysql::Connection& connection, const std::string& name, std::chrono::seconds patience) {
  const auto rows = connection.query("SELECT GET_LOCK(?, ?)", {name, patience.count()});
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  return (*rows)[0].number(0) == 1;
}

}  // namespace

base::Result<std::unique_ptr<ServerLock>> ServerLock::take(mysql::ServerOptions server, Sharing sharing,
                                                           std::chrono::seconds patience) {
  server.statement_timeout = std::max<base::Milliseconds>(server.statement_timeout, 2 * patience);
  std::unique_ptr<ServerLock> lock(new ServerLock(std::move(server), sharing));
  TRY(const bool taken, lock->try_take(patience));
  if (!taken) return base::invalid(lock->refusal());
  return lock;
}

std::string ServerLock::refusal() const {
  if (sharing_ == Sharing::several)
    return "another server uses database " + server_.database +
           " and was started without --several-servers: start all of them with it";
  return "another server uses database " + server_.database +
         ". Start all servers with --several-servers: then they share the idempotency keys of all requests, and one "
         "that is repeated at another server is not executed again";
}

void ServerLock::keep(Instant now) {
  if (now < next_look_) return;
  next_look_ = now + look_interval;
  if (connection_ && connection_->ping()) return;
  const auto taken = try_take(std::chrono::seconds(0));
  if (!taken)
    note("the lock that tells other servers of this one is lost: " + taken.error().message);
  else if (!*taken)
    note(refusal());
  else
    note(std::nullopt);
}

void ServerLock::note(std::optional<std::string> problem) {
  const std::lock_guard lock(mutex_);
  if (problem && !problem_)
    base::log_error("outbox", "the lock in the database was lost: requests may be executed twice",
                    {{"database", server_.database}, {"error", *problem}});
  if (!problem)
    base::log_warning("outbox", "the lock in the database was taken again", {{"database", server_.database}});
  problem_ = std::move(problem);
}

std::optional<std::string> ServerLock::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

base::Result<bool> ServerLock::try_take(std::chrono::seconds patience) {
  const Instant give_up_at = std::chrono::steady_clock::now() + patience;
  connection_.reset();
  auto opened = mysql::Connection::open(server_);
  if (!opened) return base::propagate(mysql::as_error(opened.error()));
  TRY(const bool taken, take_own(**opened, patience));
  if (!taken) return false;
  base::Pause pause;
  while (true) {
    TRY(const bool gone, are_others_gone(**opened));
    if (gone) break;
    if (std::chrono::steady_clock::now() >= give_up_at) return false;  // its own lock goes with the connection
    pause.wait(between_looks);
  }
  connection_ = *std::move(opened);
  return true;
}

base::Result<bool> ServerLock::take_own(mysql::Connection& connection, std::chrono::seconds patience) const {
  if (sharing_ == Sharing::alone) return get_lock(connection, sole_lock(server_.database), patience);
  for (int slot = 0; slot < most_servers; ++slot) {
    TRY(const bool taken, get_lock(connection, shared_lock(server_.database, slot), std::chrono::seconds(0)));
    if (taken) return true;
  }
  return base::fail(base::ErrorCode::exhausted, std::to_string(most_servers) + " servers use database " +
                                                    server_.database + " already, which is the most");
}

base::Result<bool> ServerLock::are_others_gone(mysql::Connection& connection) const {
  std::vector<std::string> names;
  if (sharing_ == Sharing::several)
    names.push_back(sole_lock(server_.database));
  else
    for (int slot = 0; slot < most_servers; ++slot) names.push_back(shared_lock(server_.database, slot));
  std::string sql = "SELECT IS_FREE_LOCK(?)";
  for (std::size_t i = 1; i < names.size(); ++i) sql += " + IS_FREE_LOCK(?)";
  const auto rows = connection.query(sql, std::vector<mysql::Parameter>(names.begin(), names.end()));
  if (!rows) return base::propagate(mysql::as_error(rows.error()));
  return (*rows)[0].number(0) == static_cast<std::int64_t>(names.size());
}

}  // namespace postino::app
