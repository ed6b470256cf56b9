// What tells others how the process is: /healthz, /readyz and /metrics.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/protocol/access.h"
#include "base/swappable.h"
#include "base/thread_pool.h"
#include "http/message.h"

namespace postino::app {

// Safe to use from any thread.
class Monitor {
 public:
  // Appends lines in Prometheus' text format.
  using Source = std::function<void(std::string& out)>;

  // What is wrong, if anything, in words. Must answer at once.
  using Check = std::function<std::optional<std::string>()>;

  // `readers` says who may read /metrics; nullptr: everybody.
  explicit Monitor(std::shared_ptr<const api::Access> readers) : readers_(std::move(readers)) {}
  void set_readers(std::shared_ptr<const api::Access> readers) { readers_.set(std::move(readers)); }

  // Before requests come.
  void add_source(Source source) { sources_.push_back(std::move(source)); }
  void add_check(Check check) { checks_.push_back(std::move(check)); }

  // What does not work, and does not keep the process from serving: it is told, and nothing else. Must answer at once.
  using Troubles = std::function<std::vector<std::string>()>;
  void set_troubles(Troubles troubles) { troubles_ = std::move(troubles); }

  void set_ready(bool ready) { ready_ = ready; }

  // False when the request is none of its own.
  bool handle(const http::Request& request, const http::Responder& respond);
  // Finishes what it was asked; the sources are not used any more.
  void stop() { workers_.stop(); }

 private:
  std::string problem() const;
  std::string trouble() const;
  void answer_metrics(const http::Request& request, const http::Responder& respond);

  base::Swappable<api::Access> readers_;
  std::vector<Source> sources_;
  std::vector<Check> checks_;
  Troubles troubles_;
  std::atomic<bool> ready_ = false;
  base::ThreadPool workers_{1, 16};  // some sources ask a database
};

// Memory, descriptors, processor time and start of this process.
void append_process_metrics(std::string& out);

}  // namespace postino::app
