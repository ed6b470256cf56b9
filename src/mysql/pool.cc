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
    TRY(idle.connection, open_in_place(idle.knocks));
  }
  return PooledConnection(*this, std::move(idle.connection));
}

Result<Pool::Idle> Pool::take_place() {
  std::unique_lock lock(mutex_);
  const auto free = [&] { return !idle_.empty() || open_ < options_.size; };
  if (!is_silent_ && !free()) {
    statistics_.waited();
    if (!freed_.wait_for(lock, options_.wait, [&] { return is_silent_ || free(); })) {
      statistics_.found_none();
      return fail(ErrorKind::exhausted, 0,
                  "all " + std::to_string(options_.size) + " connections to " + address_of(server_) + " are in use");
    }
  }
  if (is_silent_ && (!free() || !may_knock()))
    return fail(ErrorKind::silent, 0, address_of(server_) + " did not answer a moment ago");
  Idle idle;
  if (idle_.empty()) {
    ++open_;
  } else {
    idle = std::move(idle_.back());
    idle_.pop_back();
  }
  is_knocking_ = idle.knocks = is_silent_;
  return idle;
}

bool Pool::lives(const Idle& idle) {
  const Instant now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (idle.knocks || idle.since < useless_before_) return false;
    if (idle.since >= suspect_before_ && now - idle.since < options_.trusted_for) return true;
  }
  if (idle.connection->ping()) return true;
  note_broken(*idle.connection);
  return false;
}

Result<std::unique_ptr<Connection>> Pool::open_in_place(bool knocks) {
  const Instant began = Clock::now();
  auto connection = Connection::open(server_);
  const bool is_lost = !connection && connection.error().kind == ErrorKind::lost;
  note_opening(knocks, is_lost && Clock::now() - began >= server_.connect_timeout);  // one that refuses does so at once
  if (connection)
    statistics_.connected();
  else
    leave_place();
  return connection;
}

bool Pool::may_knock() const { return !is_knocking_ && Clock::now() >= next_knock_; }

void Pool::note_opening(bool knocks, bool in_vain) {
  constexpr std::chrono::seconds pause{1};
  {
    const std::lock_guard lock(mutex_);
    if (knocks) is_knocking_ = false;
    is_silent_ = in_vain;
    if (!in_vain) return;
    useless_before_ = Clock::now();
    next_knock_ = useless_before_ + pause;
  }
  freed_.notify_all();  // those who wait for a place need not wait any longer
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  if (connection->broken() || connection->in_transaction() || connection->swollen()) {
    if (connection->broken()) note_broken(*connection);
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

void Pool::note_broken(const Connection& connection) {
  statistics_.found_broken();
  const std::lock_guard lock(mutex_);
  suspect_before_ = Clock::now();
  if (connection.silent()) useless_before_ = suspect_before_;
}

}  // namespace postino::mysql
