#include "rounds.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <limits>
#include <semaphore>
#include <thread>

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Of all threads of this process, its background work included.
double cpu_microseconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return microseconds(used.ru_utime) + microseconds(used.ru_stime);
}

Pace measure(const Turn& turn, Duration length) {
  const double before = cpu_microseconds();
  const Work work = turn(length);
  const auto operations = static_cast<double>(work.operations);
  return {operations / work.elapsed.count(), (cpu_microseconds() - before) / operations};
}

}  // namespace

std::vector<Pace> compete(const Plan& plan, const std::vector<Turn>& contestants) {
  std::vector<Pace> best(contestants.size(), {.cpu_microseconds = std::numeric_limits<double>::max()});
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      // Every second round goes backwards, so that none always runs in the wake of the same other.
      const std::size_t place = round % 2 == 0 ? i : contestants.size() - 1 - i;
      const Pace pace = measure(contestants[place], plan.turn);
      best[place].per_second = std::max(best[place].per_second, pace.per_second);
      best[place].cpu_microseconds = std::min(best[place].cpu_microseconds, pace.cpu_microseconds);
    }
  }
  return best;
}

Turn by_threads(int threads, std::function<Operation()> make_operation) {
  return [threads, make_operation = std::move(make_operation)](Duration turn) -> Work {
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
    return {total, Clock::now() - begin};
  };
}

Turn by_callbacks(int limit, std::function<Starter()> make_starter) {
  return [limit, make_starter = std::move(make_starter)](Duration turn) -> Work {
    const Starter start = make_starter();
    std::counting_semaphore<> free(limit);
    std::uint64_t count = 0;
    const Clock::time_point begin = Clock::now();
    for (; Clock::now() - begin < turn; ++count) {
      free.acquire();
      start([&] { free.release(); });
    }
    for (int i = 0; i < limit; ++i) free.acquire();
    return {count, Clock::now() - begin};
  };
}

}  // namespace postino::bench
