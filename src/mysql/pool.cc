#include "mysql/pool.h"

#include <utility>

namespace postino::mysql {

PooledConnection::~PooledConnection() {
  if (connection_ != nullptr) pool_->give_back(std::move(connection_));
}

Pool::Pool(ServerOptions server, PoolOptions options, Statistics& statistics)
    : server_(std::move(server)), options_(options), statistics_(statistics) {}

Result<PooledConnection> Pool::take() {
  TRY(Idle idle, take_place());
  if (idle.connection != nullptr && !lives(idle)) idle.connection.reset();
  if (idle.connection == nullptr) {
    TRY(idle.connection, open_in_place());
  }
  return PooledConnection(*this, std::move(idle.connection));
}

Result<Pool::Idle> Pool::take_place() {
  std::unique_lock lock(mutex_);
  const auto free = [&] { return !idle_.empty() || open_ < options_.size; };
  if (!free()) {
    statistics_.waited();
    if (!freed_.wait_for(lock, options_.wait, free)) {
      statistics_.found_none();
      return fail(ErrorKind::exhausted, 0,
                  "all " + std::to_string(options_.size) + " connections to " + address_of(server_) + " are in use");
    }
  }
  if (idle_.empty()) {
    ++open_;
    return Idle{};
  }
  Idle idle = std::move(idle_.back());
  idle_.pop_back();
  return idle;
}

bool Pool::lives(const Idle& idle) {
  const Instant now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (idle.since >= suspect_before_ && now - idle.since < options_.trusted_for) return true;
  }
  if (idle.connection->ping()) return true;
  note_broken();
  return false;
}

Result<std::unique_ptr<Connection>> Pool::open_in_place() {
  auto connection = Connection::open(server_);
  if (connection) {
    statistics_.connected();
    return connection;
  }
  leave_place();
  return connection;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  if (connection->broken() || connection->in_transaction() || connection->swollen()) {
    if (connection->broken()) note_broken();
    connection.reset();  // closed before another one takes its place
    leave_place();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back({std::move(connection), Clock::now()});
  }
  freed_.notify_one();
}

void Pool::leave_place() {
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  freed_.notify_one();
}

void Pool::note_broken() {
  statistics_.found_broken();
  const std::lock_guard lock(mutex_);
  suspect_before_ = Clock::now();
}

}  // namespace postino::mysql
