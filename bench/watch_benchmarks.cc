// What it costs to watch the traffic of a store: the same work on two stores, of which one is watched. Processor time
// counts: the disk is the same for both, and never quiet.
#include <cstdio>
#include <string>

#include "benchmarks.h"
#include "capacity/traffic_watch.h"
#include "engine_store.h"

namespace postino::bench {

namespace {

constexpr double watch_ceiling = 1.02;
constexpr std::uint64_t watched_mails = 30'000;

void tell(BenchmarkRun& run, const std::string& name, const std::vector<Pace>& paces) {
  const double ratio = paces[1].cpu_microseconds / paces[0].cpu_microseconds;
  char text[80];
  std::snprintf(text, sizeof text, "%.2f us, watched %.2f us: %+.1f %%", paces[0].cpu_microseconds,
                paces[1].cpu_microseconds, (ratio - 1) * 100);
  run.report.ceiling(name, text, ratio, watch_ceiling);
}

}  // namespace

void watch_traffic(BenchmarkRun& run) {
  const base::SystemClock clock;
  const auto watch = std::make_shared<capacity::TrafficWatch>(clock);
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
