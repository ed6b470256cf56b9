#include "net/idle_connections.h"

#include <algorithm>
#include <utility>

namespace postino::net {

std::deque<IdleConnections::Idle> IdleConnections::remove_expired() {
  const auto oldest = std::chrono::steady_clock::now() - idle_time_;
  std::deque<Idle> expired;
  while (!idle_.empty() && (idle_.front().since <= oldest || idle_.size() > limit_)) {
    expired.push_back(std::move(idle_.front()));
    idle_.pop_front();
  }
  return expired;
}

std::unique_ptr<ClientStream> IdleConnections::take(const std::string& peer) {
  while (true) {
    std::deque<Idle> expired;
    std::unique_ptr<ClientStream> stream;
    {
      std::lock_guard lock(mutex_);
      expired = remove_expired();
      const auto found =
          std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& idle) { return idle.peer == peer; });
      if (found == idle_.rend()) return nullptr;
      stream = std::move(found->stream);
      idle_.erase(std::next(found).base());
    }
    if (!stream->is_stale()) return stream;
  }
}

void IdleConnections::put(std::string peer, std::unique_ptr<ClientStream> stream) {
  std::deque<Idle> expired;
  std::lock_guard lock(mutex_);
  idle_.push_back({std::move(peer), std::move(stream), std::chrono::steady_clock::now()});
  expired = remove_expired();
}

}  // namespace postino::net
