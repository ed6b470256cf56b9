#include "broker/connection/event_loop.h"

#include <proton/connection.h>
#include <proton/event.h>
#include <proton/logger.h>
#include <proton/proactor.h>

#include <system_error>

#include "base/this_thread.h"

namespace postino::broker {

namespace {

constexpr pn_millis_t watch_milliseconds = 1'000;
constexpr std::chrono::seconds leaving_time{2};

}  // namespace

base::Result<std::shared_ptr<EventLoop>> EventLoop::create() {
  // Proton would write to standard error what our callers hear anyway.
  pn_logger_reset_mask(pn_default_logger(), PN_SUBSYSTEM_ALL, PN_LEVEL_ALL);
  pn_proactor_t* const proactor = pn_proactor();
  if (proactor == nullptr) return base::fail(base::ErrorCode::exhausted, "no resources for connections to brokers");
  std::shared_ptr<EventLoop> loop(new EventLoop(proactor));
  try {
    loop->thread_ = std::thread([self = loop.get()] { self->work(); });
  } catch (const std::system_error& error) {
    return base::fail(base::ErrorCode::exhausted, std::string("no thread for brokers: ") + error.what());
  }
  return loop;
}

EventLoop::~EventLoop() {
  stop();
  pn_proactor_free(proactor_);
}

void EventLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true) || !thread_.joinable()) return;
  }
  pn_proactor_interrupt(proactor_);
  thread_.join();
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  run_tasks();
}

void EventLoop::break_off() {
  {
    const std::lock_guard lock(mutex_);
    if (shutdown_deadline_.is_set()) return;
    shutdown_deadline_.begin_at(std::chrono::steady_clock::now());
  }
  post([this] {
    for (const auto& [address, connection] : connections_) connection->abort();
  });
}

void EventLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      tasks_.push_back(std::move(task));
      pn_proactor_interrupt(proactor_);
      return;
    }
  }
  task();
}

bool EventLoop::connect(const std::shared_ptr<Connection>& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || shutdown_deadline_.is_set()) return false;
  }
  ++count_;
  post([this, connection] {
    if (leaving_ || shutdown_deadline_.is_set()) connection->abort();
    if (!connection->start(proactor_)) {
      --count_;
      return;
    }
    connections_[connection.get()] = connection;
    watch();
  });
  return true;
}

void EventLoop::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
}

// Proton has one alarm, which is set while there are connections.
void EventLoop::watch() {
  if (std::exchange(watching_, true)) return;
  pn_proactor_set_timeout(proactor_, watch_milliseconds);
}

void EventLoop::on_timeout() {
  watching_ = false;
  const Deadline now = std::chrono::steady_clock::now();
  for (const auto& [address, connection] : connections_) connection->hurry(now);
  if (!connections_.empty() || leaving_) watch();
}

bool EventLoop::on_interrupt() {
  run_tasks();
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) return true;
  }
  if (!std::exchange(leaving_, true)) {
    for (const auto& [address, connection] : connections_) connection->close();
    leaving_ends_ = std::chrono::steady_clock::now() + leaving_time;
    watch();
  }
  return !connections_.empty();
}

bool EventLoop::handle(pn_event_t* event) {
  switch (pn_event_type(event)) {
    case PN_PROACTOR_INTERRUPT:
      return on_interrupt();
    case PN_PROACTOR_TIMEOUT:
      on_timeout();
      if (leaving_ && std::chrono::steady_clock::now() >= leaving_ends_) pn_proactor_disconnect(proactor_, nullptr);
      return !(leaving_ && connections_.empty());
    default:
      break;
  }
  pn_connection_t* const proton_connection = pn_event_connection(event);
  if (proton_connection == nullptr) return true;
  auto* const connection = static_cast<Connection*>(pn_connection_get_context(proton_connection));
  if (connection == nullptr) return true;
  if (current_.get() != connection) current_ = connection->shared_from_this();
  if (connection->handle(event)) {
    connections_.erase(connection);
    --count_;
  }
  return !(leaving_ && connections_.empty());
}

void EventLoop::work() {
  base::name_thread("broker");
  for (bool go_on = true; go_on;) {
    pn_event_batch_t* const batch = pn_proactor_wait(proactor_);
    while (pn_event_t* const event = pn_event_batch_next(batch)) go_on = handle(event) && go_on;
    pn_proactor_done(proactor_, batch);
    if (current_) current_->finish_batch();
    current_.reset();
  }
}

}  // namespace postino::broker
