#include "metrics/live_figures.h"

#include <utility>

#include "base/this_thread.h"

namespace postino::metrics {

// Remembers the latest event that its client does not have.
class LiveFigures::Watcher final : public http::BodyStream {
 public:
  void begin(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  Piece next() override {
    const std::lock_guard lock(mutex_);
    Piece piece{event_ ? *event_ : "", is_over_};
    event_.reset();
    return piece;
  }
  std::string pulse() override { return ":\n\n"; }

  void tell(std::shared_ptr<const std::string> event) {
    change([&] {
      event_ = std::move(event);
      was_told_ = true;
    });
  }
  bool was_told() const {
    const std::lock_guard lock(mutex_);
    return was_told_;
  }
  void end() {
    change([&] { is_over_ = true; });
  }

 private:
  template <class Change>
  void change(const Change& apply) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      apply();
      wake = wake_;
    }
    if (wake) wake();
  }

  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::shared_ptr<const std::string> event_;
  bool was_told_ = false;
  bool is_over_ = false;
};

LiveFigures::~LiveFigures() { stop(); }

void LiveFigures::start() {
  thread_ = std::thread([this] {
    base::name_thread("live-figures");
    run();
  });
}

void LiveFigures::stop() {
  std::vector<std::shared_ptr<Watcher>> left;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (const auto& [tenant, room] : rooms_)
      for (const auto& watcher : room.watchers)
        if (auto there = watcher.lock()) left.push_back(std::move(there));
    rooms_.clear();
  }
  news_.notify_all();
  for (const auto& watcher : left) watcher->end();
  if (thread_.joinable()) thread_.join();
}

std::size_t LiveFigures::clean() const {
  std::size_t count = 0;
  for (auto& [tenant, room] : rooms_) {
    std::erase_if(room.watchers, [](const std::weak_ptr<Watcher>& watcher) { return watcher.expired(); });
    count += room.watchers.size();
  }
  std::erase_if(rooms_, [](const auto& entry) { return entry.second.watchers.empty(); });
  return count;
}

std::size_t LiveFigures::watchers() const {
  const std::lock_guard lock(mutex_);
  return clean();
}

void LiveFigures::changed(const std::set<std::string>& tenants) {
  {
    const std::lock_guard lock(mutex_);
    bool is_watched = false;
    for (auto& [tenant, room] : rooms_)
      if (tenants.empty() || tenants.contains(tenant)) is_watched = room.is_due = true;
    if (!is_watched) return;
    is_due_ = true;
  }
  news_.notify_all();
}

std::shared_ptr<http::BodyStream> LiveFigures::watch(const std::string& tenant) {
  auto watcher = std::make_shared<Watcher>();
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || clean() >= options_.most_watchers) return nullptr;
    Room& room = rooms_[tenant];
    if (room.watchers.size() >= options_.most_watchers_of_tenant) return nullptr;
    room.watchers.push_back(watcher);
    // It gets what the others have at once, and what is true now as soon as that is read.
    if (room.event) watcher->tell(room.event);
    room.is_due = true;
    is_due_ = true;
  }
  news_.notify_all();
  return watcher;
}

void LiveFigures::tell() {
  std::vector<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    is_due_ = false;
    (void)clean();
    for (auto& [tenant, room] : rooms_)
      if (std::exchange(room.is_due, false)) due.push_back(tenant);
  }
  for (const std::string& tenant : due) {
    const auto figures = dashboard_.read(tenant);
    if (!figures) continue;  // the next look tells
    auto event = std::make_shared<const std::string>("event: figures\ndata: " + figures_json(*figures) + "\n\n");
    std::vector<std::shared_ptr<Watcher>> watchers;
    {
      const std::lock_guard lock(mutex_);
      const auto room = rooms_.find(tenant);
      if (room == rooms_.end()) continue;
      // A change that changes nothing of what is shown is no news, except to those who have come since.
      const bool is_same = room->second.event && *room->second.event == *event;
      room->second.event = event;
      for (const auto& watcher : room->second.watchers)
        if (auto there = watcher.lock(); there && (!is_same || !there->was_told()))
          watchers.push_back(std::move(there));
    }
    for (const auto& watcher : watchers) watcher->tell(event);
  }
}

void LiveFigures::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    const bool is_news = news_.wait_for(lock, options_.poll, [&] { return is_stopped_ || is_due_; });
    if (is_stopped_) return;
    // Nothing was heard for a while: another process may have counted.
    if (!is_news)
      for (auto& [tenant, room] : rooms_) room.is_due = true;
    lock.unlock();
    tell();
    lock.lock();
    news_.wait_for(lock, options_.interval, [&] { return is_stopped_; });
  }
}

}  // namespace postino::metrics
