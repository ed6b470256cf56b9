// A thread that serves connections: their events, their deadlines, and the buffers they share.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "http/connection.h"
#include "http/date.h"
#include "http/response_channel.h"
#include "http/server_state.h"

namespace postino::http {

class IoThread {
 public:
  explicit IoThread(ServerState& state);
  // The thread must have ended, or never have run.
  ~IoThread();

  // Safe to call from any thread.
  void run();
  void adopt(base::Descriptor socket, Peer peer);
  // Ends connections that rest, and calls `drained` when the others have answered.
  void drain(std::function<void()> drained);
  // Ends all connections and then the thread.
  void shut_down();
  void join();
  std::size_t connection_count() const { return connection_count_.load(std::memory_order_relaxed); }
  boost::asio::io_context& context() { return context_; }
  ServerState& state() { return state_; }

  // For connections, on this thread.
  const std::shared_ptr<ResponseChannel>& channel() const { return channel_; }
  std::span<char> read_buffer() { return read_buffer_; }
  std::string_view date() { return date_.text(); }
  RequestNumber next_request_number() { return ++last_request_number_; }
  // The first tick at which `timeout` has passed for certain.
  Tick deadline_after(std::chrono::milliseconds timeout) const { return tick_ + ticks_in(timeout); }
  Tick ticks_in(std::chrono::milliseconds time) const;
  Tick tick() const { return tick_; }
  std::shared_ptr<Exchange> borrow_exchange();
  // The caller must be the last one that uses it.
  void return_exchange(std::shared_ptr<Exchange> exchange);
  // Like return_exchange, when a handler may still look into it.
  void abandon_exchange(std::shared_ptr<Exchange> exchange);
  void forget(const Connection& connection);

 private:
  void welcome(base::Descriptor socket, Peer peer);
  void sweep_later();
  void sweep();
  void report_if_drained();
  void end();

  ServerState& state_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  boost::asio::steady_timer timer_{context_};
  const std::chrono::milliseconds sweep_interval_;
  const std::shared_ptr<ResponseChannel> channel_;
  std::vector<char> read_buffer_;
  DateOfNow date_;
  Tick tick_ = 0;
  RequestNumber last_request_number_ = 0;
  std::vector<std::shared_ptr<Exchange>> spare_exchanges_;
  std::size_t lent_exchanges_ = 0;
  std::function<void()> drained_;
  bool ended_ = false;
  std::atomic<std::size_t> connection_count_ = 0;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::thread thread_;
};

}  // namespace postino::http
