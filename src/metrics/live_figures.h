// Figures as they change, for those who watch: server-sent events (text/event-stream) with the whole dashboard as JSON.
//
// A thread of its own reads the figures once for all who watch the same tenant, and no more often than is said. A
// client that reads slowly gets the latest when it is ready for it, not all that it has missed.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "http/body_stream.h"
#include "metrics/dashboard.h"

namespace postino::metrics {

struct LiveOptions {
  base::Milliseconds interval = std::chrono::seconds(1);  // at least, between two events
  base::Milliseconds poll = std::chrono::seconds(10);     // for changes that another process has counted
  std::size_t most_watchers = 500;
  std::size_t most_watchers_of_tenant = 50;
  std::size_t most_watchers_of_caller = 10;  // so that one key does not keep out the others of its tenant
};

// Safe to use from any thread.
class LiveFigures {
 public:
  // The dashboard must outlive it.
  LiveFigures(Dashboard& dashboard, LiveOptions options) : dashboard_(dashboard), options_(options) {}
  ~LiveFigures();  // stop()

  void start();
  // Ends all streams.
  void stop();

  // Figures of these have changed; empty: perhaps of all. Does not wait.
  void changed(const std::set<std::string>& tenants);

  // A body that begins with the present figures, unless the client has them: `last_event` is the id of the last event
  // that it got before (Last-Event-ID), or empty. The tenant is as in Dashboard::read. The caller is any text that is
  // different for each; empty: it is not known who watches, and has no limit of their own. nullptr: too many watch
  // already, or it is stopped.
  std::shared_ptr<http::BodyStream> watch(const std::string& tenant, std::string last_event = "",
                                          const std::string& caller = "");
  std::size_t watchers() const;

  // Reads what has changed and tells those who watch: what the thread does again and again.
  void tell();

 private:
  class Watcher;
  struct Event {
    std::string id;    // the same for the same figures, also after a restart
    std::string text;  // as it is sent
  };
  struct Room {
    std::vector<std::weak_ptr<Watcher>> watchers;
    std::shared_ptr<const Event> event;  // the latest
    bool is_due = true;
  };

  static std::shared_ptr<const Event> event_of(const Figures& figures);
  void run();
  // How many streams this caller has, in all rooms.
  std::size_t streams_of(const std::string& caller) const;
  // Forgets those who have gone. How many are left in all rooms.
  std::size_t clean() const;

  Dashboard& dashboard_;
  const LiveOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  mutable std::map<std::string, Room> rooms_;  // by tenant; of those that are watched
  bool is_due_ = false;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace postino::metrics
