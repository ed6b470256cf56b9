#include "wire/protocol/long_calls.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/metrics_text.h"

namespace postino::wire {

namespace {

int thread_count(int wanted) {
  constexpr int fewest = 2;  // so that one very long call does not hold up all others
  return wanted > 0 ? wanted : std::max(fewest, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

LongCalls::LongCalls(int threads, std::size_t max_waiting)
    : pool_(thread_count(threads), max_waiting, base::ThreadPool::Priority::lower) {}

bool LongCalls::try_submit(std::function<void()> call) {
  const bool taken = pool_.try_submit([this, call = std::move(call)] {
    if (!stopping_) call();
  });
  ++(taken ? taken_ : refused_);
  return taken;
}

void LongCalls::stop() {
  stopping_ = true;
  pool_.stop();
}

void LongCalls::append_to(std::string& out) const {
  base::append_metric(out, "postino_dynamodb_long_calls_total", "counter",
                      "Calls of the DynamoDB API that took long and moved to threads of their own.",
                      std::to_string(taken_));
  base::append_metric(out, "postino_dynamodb_long_calls_refused_total", "counter",
                      "Long calls of the DynamoDB API that were refused because too many waited.",
                      std::to_string(refused_));
  base::append_metric(out, "postino_dynamodb_long_calls_waiting", "gauge",
                      "Long calls of the DynamoDB API that wait for a thread.", std::to_string(pool_.waiting()));
}

}  // namespace postino::wire
