// How the servers of a MySQL database know of each other: each holds a lock there, for as long as it lives. Idempotency
// keys, but for those of e-mails, are kept by each server in its own store: a request that is repeated at another
// server would be executed again. So a server shares the database only if all were told.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "mysql/connection.h"

namespace postino::app {

enum class Sharing {
  alone,    // no other server may use the database
  several,  // others may, if they were told the same
};

// For one thread at a time, but for problem().
class ServerLock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds predecessor_patience{5};

  // Waits so long for a predecessor to end. Fails when a server uses the database that this one may not share it with.
  static base::Result<std::unique_ptr<ServerLock>> take(mysql::ServerOptions server, Sharing sharing,
                                                        std::chrono::seconds patience = predecessor_patience);

  // To be called every second or so, while the database answers: takes again what was lost with the connection.
  void keep(Instant now);

  // Why this server may not be the only one, if so. Answers at once, on any thread.
  std::optional<std::string> problem() const;

 private:
  ServerLock(mysql::ServerOptions server, Sharing sharing) : server_(std::move(server)), sharing_(sharing) {}

  // A server that takes its own lock first, and then looks for those of others, cannot miss another one that does the
  // same at this time. False when another server is there.
  base::Result<bool> try_take(std::chrono::seconds patience);
  base::Result<bool> take_own(mysql::Connection& connection, std::chrono::seconds patience) const;
  base::Result<bool> are_others_gone(mysql::Connection& connection) const;
  std::string refusal() const;
  void note(std::optional<std::string> problem);

  const mysql::ServerOptions server_;
  const Sharing sharing_;
  std::unique_ptr<mysql::Connection> connection_;  // which has the lock
  Instant next_look_;
  mutable std::mutex mutex_;
  std::optional<std::string> problem_;
};

}  // namespace postino::app
