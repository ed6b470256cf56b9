#include "rounds.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <latch>
#include <semaphore>
#include <thread>

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

double rate(std::uint64_t operations, Clock::time_point begin) {
  return static_cast<double>(operations) / std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

std::vector<double> compete(const Pace& pace, const std::vector<Turn>& contestants) {
  std::vector<std::vector<double>> rates(contestants.size());
  for (int round = 0; round < pace.rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      // Every second round goes backwards, so that nobody always runs in the wake of the same other.
      const std::size_t place = round % 2 == 0 ? i : contestants.size() - 1 - i;
      rates[place].push_back(contestants[place](pace.turn));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& rates_of_one : rates) medians.push_back(median(std::move(rates_of_one)));
  return medians;
}

Turn by_threads(int threads, std::function<Operation()> make_operation) {
  return [threads, make_operation = std::move(make_operation)](Duration turn) {
    std::atomic<bool> stop = false;
    std::atomic<std::uint64_t> total = 0;
    std::latch start(threads + 1);
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&] {
        const Operation operation = make_operation();
        start.arrive_and_wait();
        std::uint64_t count = 0;
        for (; !stop.load(std::memory_order_relaxed); ++count) operation();
        total += count;
      });
    start.arrive_and_wait();
    const Clock::time_point begin = Clock::now();
    std::this_thread::sleep_for(turn);
    stop = true;
    workers.clear();
    return rate(total, begin);
  };
}

Turn by_callbacks(int limit, std::function<Starter()> make_starter) {
  return [limit, make_starter = std::move(make_starter)](Duration turn) {
    const Starter start = make_starter();
    std::counting_semaphore<> free(limit);
    std::uint64_t count = 0;
    const Clock::time_point begin = Clock::now();
    for (; Clock::now() - begin < turn; ++count) {
      free.acquire();
      start([&] { free.release(); });
    }
    for (int i = 0; i < limit; ++i) free.acquire();
    return rate(count, begin);
  };
}

}  // namespace postino::bench
