#include "engine/streams/stream_subscription.h"

#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "engine/core_tables_testing.h"
#include "engine/streams/stream_operations.h"
#include "engine/streams/stream_shards.h"
#include "engine/upkeep/stream_trimmer.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using store::StreamViewType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr base::Milliseconds no_wait{0};
// Only a test that fails waits so long.

std::string item(const std::string& pk, int version = 0) {
  return R"({"pk":{"S":")" + pk + R"("},"version":{"N":")" + std::to_string(version) + R"("}})";
}

class StreamSubscriptionTest : public CoreTablesTest {
 protected:
  std::unique_ptr<store::Subscription> subscribe(const std::string& table_name,
                                                 std::optional<RecordNumber> after = std::nullopt) {
    auto subscription = StreamOperations(core()).subscribe(
        table_name, after ? std::optional(place_behind(table_name, *after)) : std::nullopt);
    CHECK(subscription.has_value());
    return *std::move(subscription);
  }
  store::StreamPlace place_behind(const std::string& table_name, RecordNumber number) {
    return store::place_in_sequence(core().stream_arn(*stream_of(table_name)), shown_number(number));
  }
  static std::vector<std::string> keys_of(const store::Answer<std::vector<store::StreamRecord>>& records) {
    if (!records) return {outcome_of(records)};
    std::vector<std::string> keys;
    for (const store::StreamRecord& record : *records) keys.push_back(record.keys.find("pk")->as<std::string>());
    return keys;
  }
};

TEST_F(StreamSubscriptionTest, ReadsFromTheOldestRecordInBatches) {
  create_table("aaa", StreamViewType::keys_only);
  create_table("bbb", StreamViewType::keys_only);
  put("aaa", item("a"));
  put("bbb", item("other"));
  put("aaa", item("b"));
  put("aaa", item("c"));
  const auto subscription = subscribe("aaa");
  EXPECT_THAT(keys_of(subscription->next(2, no_wait)), ElementsAre("a", "b"));
  EXPECT_THAT(keys_of(subscription->next(2, no_wait)), ElementsAre("c"));
  EXPECT_THAT(keys_of(subscription->next(2, no_wait)), IsEmpty());
}

TEST_F(StreamSubscriptionTest, GoesOnAfterARecordAcrossARestart) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", item("a"));
  put("aaa", item("b"));
  const auto first = subscribe("aaa")->next(1, no_wait);
  const RecordNumber seen = record_number(first->front().sequence_number).value();
  reopen();
  put("aaa", item("c"));
  EXPECT_THAT(keys_of(subscribe("aaa", seen)->next(10, no_wait)), ElementsAre("b", "c"));
}

TEST_F(StreamSubscriptionTest, CrossesShards) {
  create_table("aaa", StreamViewType::keys_only);
  const auto subscription = subscribe("aaa");
  put("aaa", item("a"));
  clock().advance(shard_life);
  ASSERT_TRUE(StreamTrimmer(core()).run_once());
  put("aaa", item("b"));
  ASSERT_EQ(stream_of("aaa")->shards.size(), 2U);
  EXPECT_THAT(keys_of(subscription->next(10, no_wait)), ElementsAre("a", "b"));
}

TEST_F(StreamSubscriptionTest, RefusesWhatCannotBeFollowed) {
  create_table("aaa");
  StreamOperations streams(core());
  EXPECT_THAT(outcome_of(streams.subscribe("none", std::nullopt)), StartsWith("ResourceNotFoundException: "));
  EXPECT_THAT(outcome_of(streams.subscribe("aaa", std::nullopt)), StartsWith("ResourceNotFoundException: "));
  create_table("bbb", StreamViewType::keys_only);
  // Of another store, or of a later state of this one.
  const RecordNumber future = core().queue->next_sequence_number();
  EXPECT_THAT(outcome_of(streams.subscribe("bbb", place_behind("bbb", future))), StartsWith("ValidationException: "));
}

TEST_F(StreamSubscriptionTest, ReportsRecordsThatWereTrimmedUnseen) {
  create_table("aaa", StreamViewType::keys_only);
  const auto behind = subscribe("aaa");
  const auto ahead = subscribe("aaa");
  put("aaa", item("a"));
  put("aaa", item("b"));
  ASSERT_THAT(keys_of(ahead->next(10, no_wait)), ElementsAre("a", "b"));
  ASSERT_THAT(keys_of(behind->next(1, no_wait)), ElementsAre("a"));
  const RecordNumber last_seen = core().queue->next_sequence_number() - 1;
  clock().advance(hours(25));
  ASSERT_TRUE(StreamTrimmer(core()).run_once());
  put("aaa", item("c"));
  EXPECT_THAT(keys_of(behind->next(10, no_wait)), ElementsAre(StartsWith("TrimmedDataAccessException: ")));
  EXPECT_THAT(keys_of(ahead->next(10, no_wait)), ElementsAre("c"));
  EXPECT_THAT(keys_of(subscribe("aaa")->next(10, no_wait)), ElementsAre("c"));
  EXPECT_THAT(keys_of(subscribe("aaa", last_seen)->next(10, no_wait)), ElementsAre("c")) << "it missed nothing";
  reopen();
  EXPECT_THAT(keys_of(subscribe("aaa", last_seen - 1)->next(10, no_wait)),
              ElementsAre(StartsWith("TrimmedDataAccessException: ")));
}

TEST_F(StreamSubscriptionTest, EndsWithItsStream) {
  create_table("aaa", StreamViewType::keys_only);
  const auto subscription = subscribe("aaa");
  put("aaa", item("a"));
  disable_stream("aaa");
  put("aaa", item("unseen"));
  EXPECT_THAT(keys_of(subscription->next(10, no_wait)), ElementsAre("a"));
  EXPECT_THAT(keys_of(subscription->next(10, no_wait)), ElementsAre(StartsWith("ResourceNotFoundException: ")));
}

using ConcurrentStreamSubscriptionTest = StreamSubscriptionTest;

TEST_F(ConcurrentStreamSubscriptionTest, AWriteWakesIt) {
  create_table("aaa", StreamViewType::keys_only);
  const auto subscription = subscribe("aaa");
  std::thread writer([&] { put("aaa", item("a")); });
  EXPECT_THAT(keys_of(subscription->next(10, long_wait)), ElementsAre("a"));
  writer.join();
}

TEST_F(ConcurrentStreamSubscriptionTest, CloseWakesIt) {
  create_table("aaa", StreamViewType::keys_only);
  const auto subscription = subscribe("aaa");
  std::thread closer([&] { subscription->close(); });
  EXPECT_THAT(keys_of(subscription->next(10, long_wait)), IsEmpty());
  closer.join();
  put("aaa", item("a"));
  EXPECT_THAT(keys_of(subscription->next(10, long_wait)), IsEmpty()) << "closed for good";
}

TEST_F(ConcurrentStreamSubscriptionTest, TheEndOfTheStreamWakesIt) {
  create_table("aaa", StreamViewType::keys_only);
  const auto subscription = subscribe("aaa");
  std::thread ender([&] { delete_table("aaa"); });
  EXPECT_THAT(keys_of(subscription->next(10, long_wait)), ElementsAre(StartsWith("ResourceNotFoundException: ")));
  ender.join();
}

// Several writers on few keys, shards rolling under way: everything arrives once, and in order for each key.
TEST_F(ConcurrentStreamSubscriptionTest, DeliversEverythingOnceAndInOrder) {
  constexpr int writers = 4;
  constexpr int writes = 200;
  create_table("aaa", StreamViewType::new_and_old_images);
  const auto subscription = subscribe("aaa");
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < writes; ++i) put("aaa", item("key" + std::to_string(i % 3), writer * writes + i));
    });
  threads.emplace_back([&] {
    StreamTrimmer trimmer(core());
    for (int i = 0; i < 4; ++i) {
      clock().advance(shard_life);
      ASSERT_TRUE(trimmer.run_once());
    }
  });

  int received = 0;
  store::SequenceNumber last;
  std::map<std::string, item::Item> images;
  while (received < writers * writes) {
    const auto records = subscription->next(50, long_wait);
    ASSERT_EQ(outcome_of(records), "ok");
    ASSERT_FALSE(records->empty());
    for (const store::StreamRecord& record : *records) {
      ++received;
      EXPECT_GT(record.sequence_number, last);
      last = record.sequence_number;
      const std::string key = record.keys.find("pk")->as<std::string>();
      const auto known = images.find(key);
      EXPECT_EQ(record.old_image, known == images.end() ? std::nullopt : std::optional(known->second));
      images[key] = *record.new_image;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(keys_of(subscription->next(1, no_wait)), IsEmpty());
  EXPECT_EQ(stream_of("aaa")->shards.size(), 5U);
}

}  // namespace
}  // namespace postino::engine
