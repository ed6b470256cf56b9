#include "broker/connection/connection_pool.h"

#include <algorithm>

namespace postino::broker {

void ConnectionPool::drop(const std::deque<Idle>::iterator& idle) {
  idle->connection->close();
  idle_.erase(idle);
}

void ConnectionPool::drop_stale() {
  const auto oldest = std::chrono::steady_clock::now() - limits_.time;
  std::erase_if(idle_, [&](const Idle& idle) {
    const bool stale = idle.since < oldest || !idle.connection->is_usable();
    if (stale) idle.connection->close();
    return stale;
  });
}

std::shared_ptr<Connection> ConnectionPool::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  drop_stale();
  const auto found = std::ranges::find(idle_.rbegin(), idle_.rend(), key, &Idle::key);
  if (found == idle_.rend()) return nullptr;
  std::shared_ptr<Connection> connection = std::move(found->connection);
  idle_.erase(std::next(found).base());
  return connection;
}

void ConnectionPool::put(const std::string& key, std::shared_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  idle_.push_back({key, std::move(connection), std::chrono::steady_clock::now()});
  drop_stale();
  if (static_cast<std::size_t>(std::ranges::count(idle_, key, &Idle::key)) > limits_.each)
    drop(std::ranges::find(idle_, key, &Idle::key));
  if (idle_.size() > limits_.all) drop(idle_.begin());
}

bool ConnectionPool::drop_oldest() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return false;
  drop(idle_.begin());
  return true;
}

}  // namespace postino::broker
