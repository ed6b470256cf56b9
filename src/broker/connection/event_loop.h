// The thread that does the input and output of all connections.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "broker/connection/connection.h"
#include "net/shutdown_deadline.h"

struct pn_event_t;
struct pn_proactor_t;

namespace postino::broker {

// Safe to use from any thread.
class EventLoop {
 public:
  static base::Result<std::shared_ptr<EventLoop>> create();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // The connection tells what becomes of it. False when the loop was stopped.
  bool connect(const std::shared_ptr<Connection>& connection);
  // Also those that are not open yet, or say goodbye.
  std::size_t connections() const { return count_; }
  // Runs on the loop's thread, or on this one when the loop was stopped.
  void post(std::function<void()> task);
  // Breaks all connections at once and takes no new ones: callers that wait for a broker get an answer.
  void break_off();
  // Set by break_off(), for those who wait for something else.
  const net::ShutdownDeadline& shutdown_deadline() const { return shutdown_deadline_; }
  // Says goodbye on all connections, and breaks those that do not end soon.
  void stop();

 private:
  explicit EventLoop(pn_proactor_t* proactor) : proactor_(proactor) {}
  void work();
  // False when the loop is to end.
  bool handle(pn_event_t* event);
  bool on_interrupt();
  void on_timeout();
  void run_tasks();
  void watch();

  pn_proactor_t* const proactor_;
  std::thread thread_;
  std::atomic<std::size_t> count_ = 0;
  net::ShutdownDeadline shutdown_deadline_;

  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  bool stopping_ = false;
  bool stopped_ = false;

  // The loop's thread alone.
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_;
  std::shared_ptr<Connection> current_;  // whose events are being handled
  bool leaving_ = false;
  bool watching_ = false;
  Deadline leaving_ends_{};
};

}  // namespace postino::broker
