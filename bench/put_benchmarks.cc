// Durable puts of single items.
#include <string>

#include "benchmarks.h"
#include "engine_store.h"
#include "raw_store.h"

namespace postino::bench {

namespace {

constexpr double put_bar = 0.6;
constexpr double indexed_put_bar = 0.3;

}  // namespace

void put_items(BenchmarkRun& run) {
  EngineStore engine(run.directory / "engine", Shape::plain);
  RawStore raw(run.directory / "raw");
  for (const int threads : {1, 16, 64}) {
    const auto rates = compete(run.plan, {by_threads(threads, [&] { return raw.inserting(); }),
                                          by_threads(threads, [&] { return engine.inserting(); })});
    run.report.row(with_threads("put", threads), rates[1], rates[0], put_bar);
  }
  // RocksDB has no such form: as many threads wait in it as there are unfinished puts here.
  for (const int unfinished : {64, 256}) {
    const auto rates = compete(run.plan, {by_threads(unfinished, [&] { return raw.inserting(); }),
                                          by_callbacks(unfinished, [&] { return engine.inserting_with_callbacks(); })});
    run.report.row("put, 1 thread with " + std::to_string(unfinished) + " callbacks", rates[1], rates[0], put_bar);
  }
}

void put_indexed_items(BenchmarkRun& run) {
  constexpr std::uint64_t replaced = 10'000;
  EngineStore all(run.directory / "all", Shape::indexed);
  EngineStore keys(run.directory / "keys", Shape::indexed_keys_only);
  RawStore raw(run.directory / "raw");
  all.load(replaced);
  for (const int threads : {1, 16, 64}) {
    const auto rates = compete(run.plan, {by_threads(threads, [&] { return raw.inserting(); }),
                                          by_threads(threads, [&] { return all.inserting(); }),
                                          by_threads(threads, [&] { return keys.inserting(); }),
                                          by_threads(threads, [&] { return all.replacing(replaced); })});
    run.report.row(with_threads("put, 2 indexes and stream", threads), rates[1], rates[0], indexed_put_bar);
    run.report.row("  with keys only in indexes and stream", rates[2], rates[0]);
    run.report.row("  replacing an item", rates[3], rates[0]);
  }
}

}  // namespace postino::bench
