#include "outbox/work/work_signal.h"

#include <algorithm>

namespace postino::outbox {

namespace {

constexpr std::size_t many_arrivals = 20;  // e-mails in a moment or two

}  // namespace

void WorkSignal::listen(Listener listener) {
  const std::lock_guard lock(listener_mutex_);
  listener_ = std::move(listener);
}

void WorkSignal::announce(Pipeline pipeline) {
  const std::lock_guard lock(listener_mutex_);
  if (listener_) listener_(pipeline);
}

void WorkSignal::announce(const Email& email) {
  if (const auto pipeline = pipeline_of(email)) announce(*pipeline);
}

void WorkSignal::note_arrivals(std::size_t count) {
  const std::lock_guard lock(arrivals_mutex_);
  arrivals_.add(count, std::chrono::steady_clock::now());
}

bool WorkSignal::are_many_arriving() {
  const std::lock_guard lock(arrivals_mutex_);
  return arrivals_.get(std::chrono::steady_clock::now()) >= many_arrivals;
}

}  // namespace postino::outbox
