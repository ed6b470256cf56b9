// What it costs to watch the traffic of a store: the same work on two stores, of which one is watched. Processor time
// counts: the disk is the same for both, and never quiet. bench_wire tells what it is of a request to a server.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "benchmarks.h"
#include "capacity/traffic_watch.h"
#include "engine_store.h"

namespace postino::bench {

namespace {

constexpr std::uint64_t watched_mails = 30'000;

void tell(BenchmarkRun& run, const std::string& name, const std::vector<Pace>& paces) {
  char text[80];
  std::snprintf(text, sizeof text, "CPU us/operation: %.2f, watched %.2f", paces[0].cpu_microseconds,
                paces[1].cpu_microseconds);
  run.report.fact(name, text);
}

}  // namespace

namespace {

// What a meter takes for one read, of one key or of any of many; by one thread.
void tell_count(BenchmarkRun& run, capacity::TrafficWatch& watch, std::size_t keys) {
  constexpr int reads = 1'000'000;
  store::TrafficSource source{.table = "counted"};
  source.hash = {{"Id", item::Type::string}};
  const auto meter = watch.meter(std::move(source));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < keys; ++i) names.push_back("mail-" + std::to_string(i));
  std::uint64_t number = 1;
  std::chrono::duration<double, std::nano> best{1e12};
  for (int round = 0; round < run.plan.rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < reads; ++i) {
      number = number * 6'364'136'223'846'793'005 + 1;
      const std::size_t chosen = (number >> 33) % keys;
      store::Traffic traffic{.units = 0.5};
      traffic.partition = store::Partition{static_cast<std::uint32_t>(chosen * 2'654'435'761), names[chosen]};
      meter->count(traffic);
    }
    best = std::min<std::chrono::duration<double, std::nano>>(best, std::chrono::steady_clock::now() - begin);
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.0f ns", best.count() / reads);
  run.report.fact("watch: count a read of one of " + std::to_string(keys) + " keys", text);
}

}  // namespace

void watch_traffic(BenchmarkRun& run) {
  const base::SystemClock clock;
  const auto watch = std::make_shared<capacity::TrafficWatch>(clock);
  for (const std::size_t keys : {1, 30'000}) tell_count(run, *watch, keys);
  Plan plan = run.plan;
  plan.rounds *= 3;  // the difference is small
  {
    EngineStore plain(run.directory / "plain", Shape::plain);
    EngineStore watched(run.directory / "watched", Shape::plain, watch);
    for (EngineStore* const store : {&plain, &watched}) {
      store->load(watched_mails);
      store->reopen();
    }
    for (const int threads : {1, 2})
      tell(run, with_threads("watch: get of any item", threads),
           compete(plan, {by_threads(threads, [&] { return plain.getting(watched_mails); }),
                          by_threads(threads, [&] { return watched.getting(watched_mails); })}));
    tell(run, "watch: get of one item, 2 threads",
         compete(plan,
                 {by_threads(2, [&] { return plain.getting(1); }), by_threads(2, [&] { return watched.getting(1); })}));
    for (const int threads : {1, 16})
      tell(run, with_threads("watch: put", threads),
           compete(plan, {by_threads(threads, [&] { return plain.inserting(); }),
                          by_threads(threads, [&] { return watched.inserting(); })}));
  }
  EngineStore plain(run.directory / "plain indexed", Shape::indexed);
  EngineStore watched(run.directory / "watched indexed", Shape::indexed, watch);
  tell(run, "watch: put, 2 indexes and stream, 16 threads",
       compete(plan, {by_threads(16, [&] { return plain.inserting(); }),
                      by_threads(16, [&] { return watched.inserting(); })}));
}

}  // namespace postino::bench
