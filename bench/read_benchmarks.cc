// Reads of data that fits into the block cache.
#include <string>

#include "benchmarks.h"
#include "engine_store.h"
#include "mails.h"
#include "raw_store.h"

namespace postino::bench {

namespace {

constexpr double get_bar = 0.5;
constexpr double query_bar = 0.25;
constexpr std::uint64_t mails = 30'000;
constexpr Duration warm_up{500};

Pace per_item(const Pace& per_query) {
  constexpr auto items = static_cast<double>(mails_per_conversation);
  return {per_query.per_second * items, per_query.cpu_microseconds / items};
}

}  // namespace

void get_items(BenchmarkRun& run) {
  EngineStore engine(run.directory / "engine", Shape::plain);
  RawStore raw(run.directory / "raw");
  engine.load(mails);
  raw.load(mails);
  engine.reopen();
  raw.reopen();
  compete({.rounds = 1, .turn = warm_up},
          {by_threads(2, [&] { return raw.getting(mails); }), by_threads(2, [&] { return engine.getting(mails); })});
  for (const int threads : {1, 2}) {
    const auto rates = compete(run.plan, {by_threads(threads, [&] { return raw.getting(mails); }),
                                          by_threads(threads, [&] { return engine.getting(mails); })});
    run.report.row(with_threads("get", threads), rates[1], rates[0], get_bar);
  }
}

void query_items(BenchmarkRun& run) {
  constexpr std::uint64_t conversations = mails / mails_per_conversation;
  EngineStore engine(run.directory / "engine", Shape::conversations);
  RawStore raw(run.directory / "raw");
  engine.load(mails);
  raw.load_conversations(conversations);
  engine.reopen();
  raw.reopen();
  compete({.rounds = 1, .turn = warm_up}, {by_threads(1, [&] { return raw.scanning(conversations); }),
                                           by_threads(1, [&] { return engine.querying(conversations); })});
  for (const int threads : {1, 2}) {
    auto rates = compete(run.plan, {by_threads(threads, [&] { return raw.scanning(conversations); }),
                                    by_threads(threads, [&] { return engine.querying(conversations); })});
    for (Pace& rate : rates) rate = per_item(rate);
    run.report.row(with_threads("query of 100 items, in items", threads), rates[1], rates[0], query_bar);
  }
}

}  // namespace postino::bench
