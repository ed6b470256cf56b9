// What point-in-time recovery costs: the same writes with and without it, and how fast a table is restored.
#include <chrono>
#include <cstdio>
#include <string>

#include "benchmarks.h"
#include "engine_store.h"

namespace postino::bench {

namespace {

constexpr double recovery_bar = 0.6;
constexpr std::uint64_t replaced_mails = 10'000;

double seconds_to_restore(EngineStore& store) {
  const auto begin = std::chrono::steady_clock::now();
  store.restore();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void time_restore(BenchmarkRun& run, const std::string& name, Shape shape, std::uint64_t count) {
  EngineStore store(run.directory / name, shape);
  store.enable_recovery();
  store.load(count);
  const double seconds = seconds_to_restore(store);
  char text[80];
  std::snprintf(text, sizeof text, "%.0f items/s, %.1f s", static_cast<double>(count) / seconds, seconds);
  run.report.fact("restore " + std::to_string(count) + " items, " + name, text);
}

}  // namespace

void recover(BenchmarkRun& run) {
  {
    EngineStore plain(run.directory / "plain", Shape::plain);
    EngineStore protected_store(run.directory / "protected", Shape::plain);
    protected_store.enable_recovery();
    for (EngineStore* const store : {&plain, &protected_store}) store->load(replaced_mails);
    for (const int threads : {1, 16, 64}) {
      auto rates = compete(run.plan, {by_threads(threads, [&] { return plain.inserting(); }),
                                      by_threads(threads, [&] { return protected_store.inserting(); })});
      run.report.row(with_threads("recovery: put", threads), rates[1], rates[0], recovery_bar);
      rates = compete(run.plan, {by_threads(threads, [&] { return plain.replacing(replaced_mails); }),
                                 by_threads(threads, [&] { return protected_store.replacing(replaced_mails); })});
      run.report.row(with_threads("recovery: replace", threads), rates[1], rates[0], recovery_bar);
    }
  }
  constexpr std::uint64_t million = 1'000'000;
  time_restore(run, "without indexes", Shape::plain, million);
  time_restore(run, "with 2 indexes", Shape::indexed_keys_only, million / 10);
}

}  // namespace postino::bench
