// Durable writes that depend on what is there, and of many items at once. In requests per second.
#include <string>

#include "benchmarks.h"
#include "engine_store.h"
#include "raw_store.h"

namespace postino::bench {

void write_conditionally(BenchmarkRun& run) {
  constexpr std::uint64_t mails = 30'000;
  EngineStore engine(run.directory / "engine", Shape::plain);
  RawStore raw(run.directory / "raw");
  engine.load(mails);
  raw.load(mails);
  engine.reopen();
  raw.reopen();
  for (const int threads : {1, 16}) {
    const auto rates = compete(run.plan, {by_threads(threads, [&] { return raw.reading_and_replacing(mails); }),
                                          by_threads(threads, [&] { return engine.updating_conditionally(mails); })});
    run.report.row(with_threads("conditional update (raw: get and put)", threads), rates[1], rates[0]);
  }
}

void write_many_at_once(BenchmarkRun& run) {
  EngineStore engine(run.directory / "engine", Shape::plain);
  RawStore raw(run.directory / "raw");
  for (const int threads : {1, 16}) {
    const auto transactions =
        compete(run.plan, {by_threads(threads, [&] { return raw.inserting_batches(3); }),
                           by_threads(threads, [&] { return engine.inserting_transactions(3); })});
    run.report.row(with_threads("transaction of 3 conditional puts", threads), transactions[1], transactions[0]);
    const auto batches = compete(run.plan, {by_threads(threads, [&] { return raw.inserting_batches(25); }),
                                            by_threads(threads, [&] { return engine.inserting_batches(25); })});
    run.report.row(with_threads("batch of 25 puts", threads), batches[1], batches[0]);
  }
}

}  // namespace postino::bench
