// How far a call to produce has come. Several threads may work on it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "broker/broker.h"

namespace postino::broker {

// Safe to use from any thread.
class Production {
 public:
  Production(const Messages& messages, const ProduceOptions& options, const OnConfirmed& on_confirmed);

  // The next position to be sent; those that were given back come first. Nothing when there are none, or when
  // something has gone wrong, or when it would be too far ahead of the confirmed ones: the execution that goes on after
  // this one knows where the first gap is, and sends again what is behind it.
  std::optional<std::size_t> next();
  // Waits for positions that next() may have. False when there is nothing left to wait for.
  bool await_next(std::chrono::steady_clock::time_point deadline);
  // One caller of the source at a time.
  Message message(std::size_t position);

  // It is about to be sent.
  void mark_sent(std::size_t position);
  // Tells the caller how far all have come, and does not return before it has.
  void confirm(const std::vector<std::size_t>& positions);
  void reject(std::size_t position, Failure failure);
  // Their connection broke before they were confirmed.
  void give_back(const std::vector<std::size_t>& positions);
  // Ends it; the first reason counts.
  void stop(Failure failure);
  bool is_stopped() const;

  ProduceReport report() const;

 private:
  void tell();
  bool has_next() const;

  const Messages& messages_;
  const OnConfirmed& on_confirmed_;
  const std::function<bool()> may_send_;
  const std::size_t most_ahead_;
  std::mutex source_mutex_;

  std::mutex told_mutex_;  // taken before mutex_
  std::size_t told_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_;
  std::deque<std::size_t> again_;
  ProduceReport report_;
};

}  // namespace postino::broker
