#include "metrics/live_figures.h"

#include <utility>

#include "access/caller_scope.h"
#include "base/hash.h"
#include "base/this_thread.h"

namespace postino::metrics {

// Remembers the latest event that its client does not have.
class LiveFigures::Watcher final : public http::BodyStream {
 public:
  Watcher(std::string last_event, std::string caller) : caller_(std::move(caller)), told_(std::move(last_event)) {}

  const std::string& caller() const { return caller_; }

  void begin(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  Piece next() override {
    const std::lock_guard lock(mutex_);
    Piece piece{event_ ? event_->text : "", is_over_};
    event_.reset();
    return piece;
  }
  std::string pulse() override { return ":\n\n"; }

  // What it has already is no news.
  void tell(std::shared_ptr<const Event> event) {
    change([&] {
      if (event->id == told_) return false;
      told_ = event->id;
      event_ = std::move(event);
      return true;
    });
  }
  void end() {
    change([&] { return is_over_ = true; });
  }

 private:
  // Wakes the connection if `apply` says that there is something for it.
  template <class Change>
  void change(const Change& apply) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      if (apply()) wake = wake_;
    }
    if (wake) wake();
  }

  const std::string caller_;
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::shared_ptr<const Event> event_;
  std::string told_;  // the id of the last event that it was told of
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
      if (tenants.empty() || tenants.contains(tenant) || tenant == everybody) is_watched = room.is_due = true;
    if (!is_watched) return;
    is_due_ = true;
  }
  news_.notify_all();
}

std::size_t LiveFigures::streams_of(const std::string& caller) const {
  std::size_t count = 0;
  for (const auto& [tenant, room] : rooms_)
    for (const auto& watcher : room.watchers)
      if (const auto there = watcher.lock(); there && there->caller() == caller) ++count;
  return count;
}

std::shared_ptr<http::BodyStream> LiveFigures::watch(const std::string& tenant, std::string last_event,
                                                     const std::string& caller) {
  access::CallerScope::check(tenant);
  auto watcher = std::make_shared<Watcher>(std::move(last_event), caller);
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || clean() >= options_.most_watchers) return nullptr;
    if (!caller.empty() && streams_of(caller) >= options_.most_watchers_of_caller) return nullptr;
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

std::shared_ptr<const LiveFigures::Event> LiveFigures::event_of(const Figures& figures) {
  constexpr std::size_t id_digits = 24;
  const std::string data = figures_json(figures);
  Event event;
  event.id = base::to_hex(base::sha256(data)).substr(0, id_digits);
  event.text = "event: figures\nid: " + event.id + "\ndata: " + data + "\n\n";
  return std::make_shared<const Event>(std::move(event));
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
    const std::shared_ptr<const Event> event = event_of(*figures);
    std::vector<std::shared_ptr<Watcher>> watchers;
    {
      const std::lock_guard lock(mutex_);
      const auto room = rooms_.find(tenant);
      if (room == rooms_.end()) continue;
      room->second.event = event;
      for (const auto& watcher : room->second.watchers)
        if (auto there = watcher.lock()) watchers.push_back(std::move(there));
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
