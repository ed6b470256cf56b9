// Counts and writes at the same time until it is killed: metrics_worker DIRECTORY SEED. Prints a line for each change
// that it was told to be written.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "base/check.h"
#include "engine/engine.h"
#include "metrics/metrics.h"
#include "metrics/subscribers.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

constexpr int writers = 2, tickets = 60;

[[noreturn]] void work(const std::filesystem::path& directory, std::uint64_t seed) {
  auto opened = engine::Engine::open({.directory = directory / "data"});
  CHECK(opened);
  engine::Engine& store = **opened;
  create_desk(store);
  const base::SystemClock clock;
  base::SystemRandom random;
  const store::Retry retry(random, [](base::Milliseconds) { std::this_thread::yield(); });
  MetricsOptions options;
  options.sources = {ticket_source(tickets_table)};
  options.following = following_at_once("");
  options.following.keeper.alone = true;
  options.following.poll = base::Milliseconds(5);
  options.following.batch = 20;
  const FollowerOptions following = options.following;
  Metrics metrics(store, std::move(options), clock, random, retry);
  Subscribers subscribers(store, metrics_table, following, clock, random, retry);
  CHECK(
      subscribers.add({.name = "lines",
                       .table = tickets_table,
                       .target = FileSinkOptions{.directory = directory / "lines", .name = "", .file_bytes = 50'000}}));
  metrics.start();
  subscribers.start();
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&, i] {
      base::SeededRandom choices(seed * writers + static_cast<std::uint64_t>(i));
      while (true) {
        change_something(store, choices, clock.now(), tickets);
        std::cout << "c\n" << std::flush;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::abort();
}

}  // namespace
}  // namespace postino::metrics

int main(int count, char** arguments) {
  if (count != 3) return 2;
  postino::metrics::work(arguments[1], std::strtoull(arguments[2], nullptr, 10));
}
