// A bounded number of connections, opened when needed and used again. Safe to use from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "mysql/connection.h"
#include "mysql/statistics.h"

namespace postino::mysql {

struct PoolOptions {
  std::size_t size = 16;
  base::Milliseconds wait{5'000};          // for a connection, when all are in use
  base::Milliseconds trusted_for{30'000};  // an idle one is asked whether it still lives after this time
};

class Pool;

// A connection on loan. Goes back to the pool with its end; the pool must outlive it. One that is broken, or is left
// in the middle of a transaction, or has grown too large, is closed and makes room for a new one.
class PooledConnection {
 public:
  PooledConnection(PooledConnection&& other) noexcept = default;
  PooledConnection& operator=(PooledConnection&&) = delete;
  ~PooledConnection();

  Connection& operator*() const { return *connection_; }
  Connection* operator->() const { return connection_.get(); }

 private:
  friend class Pool;
  PooledConnection(Pool& pool, std::unique_ptr<Connection> connection)
      : pool_(&pool), connection_(std::move(connection)) {}

  Pool* pool_;
  std::unique_ptr<Connection> connection_;
};

class Pool {
 public:
  // `statistics` must outlive it.
  Pool(ServerOptions server, PoolOptions options, Statistics& statistics);

  // exhausted when none was free in time, silent when the server has just kept another caller waiting in vain.
  // Otherwise fails as Connection::open() does.
  Result<PooledConnection> take();

 private:
  friend class PooledConnection;
  using Clock = std::chrono::steady_clock;
  using Instant = Clock::time_point;
  struct Idle {
    std::unique_ptr<Connection> connection;  // none: there is a place for a new one
    Instant since;
    bool knocks = false;  // the caller is the one who asks a silent server
  };

  Result<Idle> take_place();
  bool lives(const Idle& idle);
  Result<std::unique_ptr<Connection>> open_in_place(bool knocks);
  void give_back(std::unique_ptr<Connection> connection);
  void leave_place();
  void note_broken(const Connection& connection);
  // A server that has just kept a new connection waiting in vain is asked by one caller at a time, and not at once.
  // The others are told so without waiting. The mutex is held.
  bool may_knock() const;
  void note_opening(bool knocks, bool in_vain);

  const ServerOptions server_;
  const PoolOptions options_;
  Statistics& statistics_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Idle> idle_;  // the one used last at the end
  std::size_t open_ = 0;    // idle, on loan and being opened
  Instant suspect_before_;  // when one was found broken: those that have been idle since before may be, too
  Instant useless_before_;  // when the server was silent: to ask those that were idle then may take long
  bool is_silent_ = false;  // the last connection that was tried got no answer
  bool is_knocking_ = false;
  Instant next_knock_;
};

}  // namespace postino::mysql
