#include "broker/production.h"

#include <algorithm>

namespace postino::broker {

Production::Production(const Messages& messages, const ProduceOptions& options, const OnConfirmed& on_confirmed)
    : messages_(messages),
      on_confirmed_(on_confirmed),
      may_send_(options.may_send),
      most_ahead_(options.window * static_cast<std::size_t>(options.connections)),
      told_(options.first),
      next_(options.first) {
  report_.states.resize(messages.count, SendState::unsent);
  std::fill_n(report_.states.begin(), options.first, SendState::confirmed);
  report_.confirmed = report_.prefix = options.first;
}

std::optional<std::size_t> Production::next() {
  {
    const std::lock_guard lock(mutex_);
    if (report_.failure || !has_next()) return std::nullopt;
  }
  // It may take a while, and must not keep others from confirming.
  if (may_send_ && !may_send_()) stop({FailureKind::stopped, "stopped by the caller", {}});
  const std::lock_guard lock(mutex_);
  if (report_.failure) return std::nullopt;
  if (!again_.empty()) {
    const std::size_t position = again_.front();
    again_.pop_front();
    return position;
  }
  if (!has_next()) return std::nullopt;
  return next_++;
}

bool Production::has_next() const {
  return !again_.empty() || (next_ < report_.states.size() && next_ - report_.prefix < most_ahead_);
}

bool Production::await_next(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_over = [&] { return report_.failure || (again_.empty() && next_ == report_.states.size()); };
  changed_.wait_until(lock, deadline, [&] { return is_over() || has_next(); });
  return !is_over();
}

Message Production::message(std::size_t position) {
  const std::lock_guard lock(source_mutex_);
  return messages_.at(position);
}

void Production::mark_sent(std::size_t position) {
  const std::lock_guard lock(mutex_);
  if (report_.states[position] == SendState::in_doubt) ++report_.sent_again;
  report_.states[position] = SendState::in_doubt;
}

void Production::confirm(const std::vector<std::size_t>& positions) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::size_t position : positions) report_.states[position] = SendState::confirmed;
    report_.confirmed += positions.size();
    auto& prefix = report_.prefix;
    while (prefix < report_.states.size() && report_.states[prefix] == SendState::confirmed) ++prefix;
  }
  changed_.notify_all();
  if (on_confirmed_) tell();
}

void Production::tell() {
  const std::lock_guard telling(told_mutex_);
  std::size_t prefix = 0;
  {
    const std::lock_guard lock(mutex_);
    prefix = report_.prefix;
  }
  if (prefix == told_) return;
  told_ = prefix;
  if (!on_confirmed_(prefix)) stop({FailureKind::stopped, "stopped by the caller", {}});
}

void Production::reject(std::size_t position, Failure failure) {
  const std::lock_guard lock(mutex_);
  report_.states[position] = SendState::rejected;
  failure.message = "message " + std::to_string(position) + ": " + failure.message;
  if (!report_.failure) report_.failure = std::move(failure);
  changed_.notify_all();
}

void Production::give_back(const std::vector<std::size_t>& positions) {
  const std::lock_guard lock(mutex_);
  again_.insert(again_.end(), positions.begin(), positions.end());
  std::ranges::sort(again_);
  changed_.notify_all();
}

void Production::stop(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (!report_.failure) report_.failure = std::move(failure);
  changed_.notify_all();
}

bool Production::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return report_.failure.has_value();
}

ProduceReport Production::report() const {
  const std::lock_guard lock(mutex_);
  ProduceReport report = report_;
  // What the caller wanted no more of may be complete nevertheless.
  if (report.confirmed == report.states.size()) report.failure.reset();
  if (report.failure)
    report.failure->message += "; " + std::to_string(report.confirmed) + " of " + std::to_string(report.states.size()) +
                               " messages are confirmed";
  return report;
}

}  // namespace postino::broker
