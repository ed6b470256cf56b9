#include "capacity/traffic_watch.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/hash.h"

namespace postino::capacity {
namespace {

using store::TrafficKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint watch_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

store::TrafficSource source_named(const std::string& table, const std::string& index = "") {
  store::TrafficSource source{.table = table, .index = index};
  source.hash = {{"pk", item::Type::string}};
  source.item_key = {"pk", "sk"};
  return source;
}

store::Traffic traffic_of(const std::string& key, double units, TrafficKind kind) {
  store::Traffic traffic{.kind = kind, .units = units};
  traffic.partition = store::Partition{static_cast<std::uint32_t>(base::fast_hash(key)), key};
  return traffic;
}

class TrafficWatchTest : public testing::Test {
 protected:
  TrafficCounts counts_of(const std::string& table, const std::string& index = "") {
    for (TrafficWatch::Source& source : watch_.look().sources)
      if (source.source.table == table && source.source.index == index) return source.counts;
    ADD_FAILURE() << "nothing was counted of " << table << " " << index;
    return {};
  }

  base::ManualClock clock_{watch_start};
  std::atomic<std::int64_t> second_ = 6'000;
  TrafficWatch watch_{clock_, [this] { return second_.load(); }};
};

TEST_F(TrafficWatchTest, AddsUpByKind) {
  const auto meter = watch_.meter(source_named("t"));
  meter->count(traffic_of("a", 0.5, TrafficKind::read));
  meter->count(traffic_of("b", 3, TrafficKind::read));
  meter->count({.kind = TrafficKind::scan, .units = 10});
  meter->count(traffic_of("a", 2, TrafficKind::write));
  meter->count(traffic_of("a", 1, TrafficKind::failed_write));
  const TrafficCounts counts = counts_of("t");
  EXPECT_EQ(counts.reads, 3U);
  EXPECT_EQ(counts.read_halves, 27U);
  EXPECT_EQ(counts.scan_halves, 20U);
  EXPECT_EQ(counts.writes, 2U);
  EXPECT_EQ(counts.failed_writes, 1U);
  EXPECT_EQ(counts.write_halves, 6U);
  ASSERT_THAT(counts.read_keys, SizeIs(2));
  EXPECT_EQ(counts.read_keys[0].bytes, "b");
  ASSERT_THAT(counts.written_keys, SizeIs(1));
  EXPECT_EQ(counts.written_keys[0].amount, 6U);
}

TEST_F(TrafficWatchTest, KnowsTheBusiestMinute) {
  const auto meter = watch_.meter(source_named("t"));
  const auto add = [&](double units) {
    meter->count(traffic_of("a", units, TrafficKind::write));
    meter->count(traffic_of("b", units, TrafficKind::write));  // in another part, perhaps
  };
  add(5);
  second_ += 59;  // the same minute
  add(5);
  second_ += 1;
  add(7);
  EXPECT_EQ(counts_of("t").busiest_minute_write_halves, 40U);
  second_ += 86'400;
  add(1);
  EXPECT_EQ(counts_of("t").busiest_minute_write_halves, 40U) << "a day later as well";
  EXPECT_EQ(counts_of("t").write_halves, 72U);
  add(20);
  EXPECT_EQ(counts_of("t").busiest_minute_write_halves, 84U);
  watch_.restart();
  EXPECT_EQ(counts_of("t").busiest_minute_write_halves, 0U);
}

TEST_F(TrafficWatchTest, RemembersTheLargestItems) {
  const auto meter = watch_.meter(source_named("t"));
  const auto write = [&](const std::string& key, std::size_t size) {
    const item::Item item{{"pk", key}, {"sk", "s"}, {"text", "x"}};
    store::Traffic traffic = traffic_of(key, 1, TrafficKind::write);
    traffic.written = &item;
    traffic.written_size = size;
    meter->count(traffic);
  };
  write("small", large_item_bytes - 1);
  write("edge", large_item_bytes);
  write("large", 400'000);
  write("large", 409'600);
  std::vector<LargeItem> items = counts_of("t").large_items;
  ASSERT_THAT(items, SizeIs(2));
  EXPECT_EQ(items[0].key, R"({"pk":{"S":"large"},"sk":{"S":"s"}})");
  EXPECT_EQ(items[0].bytes, 409'600U);
  EXPECT_EQ(items[1].bytes, large_item_bytes);
  for (std::size_t i = 0; i < 50; ++i) write("many " + std::to_string(i), large_item_bytes + i);
  items = counts_of("t").large_items;
  EXPECT_THAT(items, SizeIs(Meter::most_large_items));
  EXPECT_EQ(items[1].bytes, large_item_bytes + 49);
}

TEST_F(TrafficWatchTest, BeginsAnewWhenItIsTold) {
  const auto meter = watch_.meter(source_named("t"));
  meter->count(traffic_of("a", 1, TrafficKind::write));
  watch_.count_stream_read();
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(watch_.look().elapsed, std::chrono::hours(1));
  watch_.restart();
  const TrafficWatch::Sighting sighting = watch_.look();
  EXPECT_EQ(sighting.since, watch_start + std::chrono::hours(1));
  EXPECT_EQ(sighting.elapsed, base::Milliseconds(0));
  EXPECT_EQ(sighting.stream_reads, 0U);
  EXPECT_EQ(counts_of("t").write_halves, 0U);
  EXPECT_THAT(counts_of("t").written_keys, IsEmpty());
  meter->count(traffic_of("a", 1, TrafficKind::write));
  EXPECT_EQ(counts_of("t").write_halves, 2U);
}

TEST_F(TrafficWatchTest, KnowsSinceWhenEachIsUsed) {
  const auto first = watch_.meter(source_named("t"));
  clock_.advance(std::chrono::hours(1));
  const auto second = watch_.meter(source_named("t", "new-index"));
  const auto since = [&] {
    std::vector<base::TimePoint> times;
    for (const TrafficWatch::Source& source : watch_.look().sources) times.push_back(source.since);
    return times;
  };
  EXPECT_THAT(since(), ElementsAre(watch_start, watch_start + std::chrono::hours(1)));
  clock_.advance(std::chrono::hours(1));
  watch_.restart();
  EXPECT_THAT(since(), testing::Each(watch_start + std::chrono::hours(2)));
}

// Once is not every month, and the store chooses the pace: it is no sign of a hot key.
TEST_F(TrafficWatchTest, FillingAnIndexIsCountedApart) {
  const auto meter = watch_.meter(source_named("t", "i"));
  meter->count({.kind = TrafficKind::backfill, .units = 100});
  meter->count(traffic_of("a", 1, TrafficKind::write));
  const TrafficCounts counts = counts_of("t", "i");
  EXPECT_EQ(counts.backfill_halves, 200U);
  EXPECT_EQ(counts.write_halves, 2U);
  EXPECT_EQ(counts.writes, 1U);
  EXPECT_EQ(counts.busiest_minute_write_halves, 2U);
  watch_.restart();
  EXPECT_EQ(counts_of("t", "i").backfill_halves, 0U);
}

// A key that took the place of another has its count, and may have got next to nothing itself.
TEST_F(TrafficWatchTest, KeysAreInTheOrderOfWhatTheyGotForCertain) {
  const auto meter = watch_.meter(source_named("t"));
  const auto add = [&](const std::string& key, double units) {
    store::Traffic traffic = traffic_of(key, units, TrafficKind::write);
    traffic.partition->hash = 0;  // all in one part
    meter->count(traffic);
  };
  for (std::size_t i = 0; i + 1 < HeavyHitters::most_keys; ++i) add("many " + std::to_string(i), 500);
  add("certain", 400);
  add("newcomer", 100);  // in place of the last one, with its 400
  add("certain", 401);   // in place of another, with its 500
  const std::vector<HeavyHitters::Key> keys = counts_of("t").written_keys;
  ASSERT_THAT(keys, SizeIs(HeavyHitters::most_keys));
  EXPECT_EQ(keys.front().amount, 1'000U) << keys.front().bytes;
  EXPECT_EQ(keys[HeavyHitters::most_keys - 1].bytes, "newcomer");
  EXPECT_EQ(keys[HeavyHitters::most_keys - 1].least(), 200U);
  for (std::size_t i = 1; i < keys.size(); ++i) EXPECT_GE(keys[i - 1].least(), keys[i].least()) << i;
}

// The clock of the machine may be set; time passes all the same.
TEST_F(TrafficWatchTest, MeasuresTimeThatPasses) {
  clock_.advance(std::chrono::seconds(10));
  clock_.set_by(-std::chrono::hours(5));
  EXPECT_EQ(watch_.look().elapsed, std::chrono::seconds(10));
}

TEST_F(TrafficWatchTest, ATableThatIsMadeAnewBeginsAnew) {
  const auto first = watch_.meter(source_named("t"));
  first->count(traffic_of("a", 1, TrafficKind::write));
  const auto second = watch_.meter(source_named("t"));
  first->count(traffic_of("a", 1, TrafficKind::write));
  EXPECT_EQ(counts_of("t").write_halves, 0U);
  EXPECT_THAT(watch_.look().sources, SizeIs(1));
}

TEST_F(TrafficWatchTest, HasALimitOfMeters) {
  std::vector<std::shared_ptr<store::TrafficMeter>> meters;
  for (std::size_t i = 0; i < TrafficWatch::most_meters + 10; ++i)
    meters.push_back(watch_.meter(source_named("t" + std::to_string(i))));
  for (const auto& meter : meters) meter->count(traffic_of("a", 1, TrafficKind::read));
  EXPECT_THAT(watch_.look().sources, SizeIs(TrafficWatch::most_meters));
  EXPECT_EQ(watch_.look().others.read_halves, 20U);
  EXPECT_THAT(watch_.look().others.read_keys, IsEmpty());
  meters.erase(meters.begin(), meters.begin() + 20);  // their tables are gone
  meters.push_back(watch_.meter(source_named("new")));
  meters.back()->count(traffic_of("a", 1, TrafficKind::read));
  EXPECT_EQ(counts_of("new").reads, 1U);
}

TEST_F(TrafficWatchTest, ConcurrentRequestsAreAllCounted) {
  constexpr int threads = 8, requests = 5'000;
  const auto meter = watch_.meter(source_named("t"));
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&, i] {
        for (int j = 0; j < requests; ++j) {
          meter->count(traffic_of(j % 2 == 0 ? "hot" : std::to_string(j), 0.5, TrafficKind::read));
          meter->count(traffic_of(std::to_string(i), 1, TrafficKind::write));
          if (j % 1'000 == 0) static_cast<void>(watch_.look());
        }
      });
  }
  const TrafficCounts counts = counts_of("t");
  EXPECT_EQ(counts.read_halves, static_cast<std::uint64_t>(threads * requests));
  EXPECT_EQ(counts.write_halves, static_cast<std::uint64_t>(2 * threads * requests));
  EXPECT_EQ(counts.read_keys.front().bytes, "hot");
  EXPECT_GE(counts.read_keys.front().amount, static_cast<std::uint64_t>(threads * requests / 2));
  EXPECT_EQ(counts.read_keys.front().most_in_a_second, static_cast<std::uint64_t>(threads * requests / 2));
}

// Where the store tells which operation took what.
TEST_F(TrafficWatchTest, CountsOperationsByTable) {
  watch_.count_call("PutItem", "orders", 0, 3);
  watch_.count_call("PutItem", "orders", 0, 1);
  watch_.count_call("Query", "orders", 0.5, 0);
  const auto operations = watch_.look().operations;
  ASSERT_THAT(operations, SizeIs(2));
  EXPECT_EQ(operations[0].operation, "PutItem");
  EXPECT_EQ(operations[0].table, "orders");
  EXPECT_EQ(operations[0].write_halves, 8U);
  EXPECT_EQ(operations[1].read_halves, 1U);
  watch_.restart();
  EXPECT_THAT(watch_.look().operations, IsEmpty());
  for (std::size_t i = 0; i < 2 * TrafficWatch::most_operations; ++i)
    watch_.count_call("PutItem", std::to_string(i), 0, 1);
  EXPECT_EQ(watch_.look().operations.size(), TrafficWatch::most_operations + 1) << "more are not told apart";
}

}  // namespace
}  // namespace postino::capacity
