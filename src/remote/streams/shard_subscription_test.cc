#include "remote/streams/shard_subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/many_threads_testing.h"
#include "item/attribute_text.h"
#include "remote/streams/fake_stream_testing.h"
#include "remote/streams/followed_shards.h"
#include "remote/streams/sharded_store_testing.h"
#include "store/change_feed.h"

namespace postino::remote {
namespace {

using namespace std::chrono_literals;
using store::ErrorType;
using testing::AnyOf;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ShardSubscriptionTest : public testing::Test {
 protected:
  store::Answer<std::unique_ptr<store::Subscription>> try_to_subscribe(
      const std::optional<store::StreamPlace>& after = std::nullopt) {
    return subscribe_to_shards(stream_, clock_, fake_table, after, [this](base::Milliseconds time) {
      clock_.advance(time);
      if (on_wait_) on_wait_();
    });
  }
  std::unique_ptr<store::Subscription> subscribe(const std::optional<store::StreamPlace>& after = std::nullopt) {
    auto subscription = try_to_subscribe(after);
    EXPECT_TRUE(subscription) << subscription.error().message;
    return subscription ? *std::move(subscription) : nullptr;
  }
  // The ids that one call returns, or the name of its error.
  static std::vector<std::string> read(store::Subscription& subscription, int limit = 100,
                                       base::Milliseconds timeout = 0ms) {
    const auto records = subscription.next(limit, timeout);
    if (!records) return {std::string(error_name(records.error().type))};
    std::vector<std::string> ids;
    for (const store::StreamRecord& record : *records) ids.push_back(item::attribute_text(record.keys, "id"));
    return ids;
  }
  static std::vector<std::string> read_all(store::Subscription& subscription) {
    std::vector<std::string> all;
    for (auto ids = read(subscription); !ids.empty(); ids = read(subscription))
      all.insert(all.end(), ids.begin(), ids.end());
    return all;
  }
  // The position of each shard by the item it is behind; "": nothing of it was read.
  store::StreamPlace place(const std::map<std::string, std::string>& positions) {
    store::StreamPlace place{.stream = fake_stream, .positions = {}};
    for (const auto& [shard, item] : positions)
      place.positions[shard] = item.empty() ? store::SequenceNumber() : stream_.number_of(item);
    return place;
  }
  // Shard P with two records, which was split into A and B.
  void split_shard() {
    stream_.open_shard("P");
    stream_.write("P", {"p1", "p2"});
    stream_.split("P", {"A", "B"});
    stream_.write("A", {"a1", "a2"});
    stream_.write("B", {"b1"});
  }

  base::ManualClock clock_{base::TimePoint(std::chrono::seconds(1'767'323'045))};
  FakeStream stream_{clock_};
  std::function<void()> on_wait_;
  bool is_written_ = false;
};

TEST_F(ShardSubscriptionTest, ReadsShardsThatAreOpenAtTheSameTime) {
  for (const char* id : {"X", "Y", "Z"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  stream_.write("X", {"x1"});
  stream_.write("Z", {"z1", "z2"});
  EXPECT_THAT(read(*subscription), UnorderedElementsAre("x1", "z1", "z2"));
  stream_.write("Y", {"y1"});
  EXPECT_THAT(read(*subscription), ElementsAre("y1"));
  EXPECT_EQ(subscription->place(), place({{"X", "x1"}, {"Y", "y1"}, {"Z", "z2"}}));
}

TEST_F(ShardSubscriptionTest, ChildrenComeBehindTheirParent) {
  split_shard();
  const auto subscription = subscribe();
  EXPECT_EQ(subscription->place(), place({{"P", ""}}));
  EXPECT_THAT(read(*subscription, 1), ElementsAre("p1"));
  EXPECT_EQ(subscription->place(), place({{"P", "p1"}}));
  EXPECT_THAT(read(*subscription, 1), ElementsAre("p2"));
  EXPECT_EQ(subscription->place(), place({{"A", ""}, {"B", ""}})) << "it has ended";
  EXPECT_THAT(read(*subscription, 1), ElementsAre("a1"));
  EXPECT_THAT(read(*subscription, 1), ElementsAre("b1")) << "each has its turn";
  EXPECT_THAT(read_all(*subscription), ElementsAre("a2"));
  EXPECT_EQ(subscription->place(), place({{"A", "a2"}, {"B", "b1"}}));
}

TEST_F(ShardSubscriptionTest, ARecordKnowsItsShard) {
  split_shard();
  const auto records = subscribe()->next(100, 0ms);
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 5U);
  EXPECT_EQ(*records->front().shard, "P");
  EXPECT_THAT(*records->back().shard, AnyOf("A", "B"));
}

// Whatever a reader was done with when it ended, it gets the rest once, and in order for each item.
TEST_F(ShardSubscriptionTest, GoesOnBehindAnyPlace) {
  split_shard();
  std::vector<store::StreamRecord> records;
  const auto first = subscribe();
  store::StreamPlace done = first->place();
  for (auto page = first->next(1, 0ms); !page->empty(); page = first->next(1, 0ms)) records.push_back(page->front());
  ASSERT_EQ(records.size(), 5U);
  for (std::size_t count = 1; count <= records.size(); ++count) {
    done.move_to(records[count - 1]);
    std::vector<std::string> rest;
    for (std::size_t i = count; i < records.size(); ++i) rest.push_back(item::attribute_text(records[i].keys, "id"));
    const auto next = subscribe(done);
    ASSERT_TRUE(next);
    EXPECT_THAT(read_all(*next), testing::UnorderedElementsAreArray(rest)) << count;
  }
  EXPECT_THAT(read_all(*subscribe(place({{"P", "p1"}}))), ElementsAre("p2", "a1", "a2", "b1"));
  EXPECT_THAT(read_all(*subscribe(place({{"A", "a1"}, {"B", ""}}))), UnorderedElementsAre("a2", "b1"));
}

TEST_F(ShardSubscriptionTest, WhatComesBeforeAPlaceIsDone) {
  split_shard();
  stream_.split("A", {"C"});
  stream_.write("C", {"c1"});
  EXPECT_THAT(read_all(*subscribe(place({{"B", ""}, {"C", ""}}))), UnorderedElementsAre("b1", "c1"));
}

TEST_F(ShardSubscriptionTest, DescriptionsHavePages) {
  stream_.shards_per_page = 1;
  split_shard();
  EXPECT_THAT(read_all(*subscribe()), ElementsAre("p1", "p2", "a1", "a2", "b1"));
}

TEST_F(ShardSubscriptionTest, ShardsAreReplacedUnderWay) {
  stream_.open_shard("S0");
  const auto subscription = subscribe();
  for (int i = 0; i < 5; ++i) {
    const std::string shard = "S" + std::to_string(i), item = "i" + std::to_string(i);
    stream_.write(shard, {item});
    EXPECT_THAT(read(*subscription), ElementsAre(item));
    stream_.split(shard, {"S" + std::to_string(i + 1)});
  }
  EXPECT_THAT(read(*subscription), IsEmpty());
  EXPECT_EQ(subscription->place(), place({{"S5", ""}})) << "also without a record";
}

TEST_F(ShardSubscriptionTest, ChildrenMayBeShownLate) {
  split_shard();
  stream_.hide_shard("A");
  stream_.hide_shard("B");
  const auto subscription = subscribe();
  EXPECT_THAT(read_all(*subscription), ElementsAre("p1", "p2"));
  EXPECT_EQ(subscription->place(), place({{"P", "p2"}})) << "until something comes in its place";
  stream_.hide_shard("B", false);
  EXPECT_THAT(read(*subscription, 100, 5s), ElementsAre("b1"));
  stream_.hide_shard("A", false);
  EXPECT_THAT(read(*subscription, 100, 60s), ElementsAre("a1", "a2")) << "one of them still later";
}

TEST_F(ShardSubscriptionTest, ANewShardWithoutAParentIsFound) {
  stream_.open_shard("X");
  const auto subscription = subscribe();
  EXPECT_THAT(read(*subscription), IsEmpty());
  stream_.open_shard("Y");
  stream_.write("Y", {"y1"});
  EXPECT_THAT(read(*subscription, 100, 60s), ElementsAre("y1"));
}

// Two shards become one, which names only one of them as its parent.
TEST_F(ShardSubscriptionTest, AShardMayEndWithoutChildren) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  stream_.write("Y", {"y1"});
  stream_.split("X", {"Z"});
  stream_.close_shard("Y");
  stream_.write("Z", {"z1"});
  const auto subscription = subscribe();
  EXPECT_THAT(read_all(*subscription), UnorderedElementsAre("y1", "z1"));
  EXPECT_EQ(subscription->place(), place({{"Y", "y1"}, {"Z", "z1"}}));
  EXPECT_THAT(read_all(*subscribe(subscription->place())), IsEmpty());
  stream_.forget("X");
  stream_.forget("Y");
  clock_.advance(1min);
  EXPECT_THAT(read(*subscription), IsEmpty());
  EXPECT_EQ(subscription->place(), place({{"Z", "z1"}})) << "it is not kept any more";
}

TEST_F(ShardSubscriptionTest, ExpiredIteratorsAreMadeAnew) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  stream_.write("X", {"x1"});
  EXPECT_THAT(read(*subscription), ElementsAre("x1"));
  stream_.expire_iterators();
  stream_.write("X", {"x2"});
  stream_.write("Y", {"y1"});
  EXPECT_THAT(read(*subscription), UnorderedElementsAre("x2", "y1"));
}

TEST_F(ShardSubscriptionTest, RecordsThatAreGoneAreTold) {
  split_shard();
  const auto subscription = subscribe();
  EXPECT_THAT(read(*subscription, 1), ElementsAre("p1"));
  stream_.trim("P", 2);
  EXPECT_THAT(read(*subscription), ElementsAre("TrimmedDataAccessException"));
  EXPECT_EQ(try_to_subscribe(place({{"P", "p1"}})).error().type, ErrorType::trimmed_data_access);
  stream_.trim("A", 1);
  EXPECT_EQ(try_to_subscribe(place({{"A", ""}, {"B", ""}})).error().type, ErrorType::trimmed_data_access)
      << "the first ones of a shard that was not begun";
  EXPECT_THAT(read_all(*subscribe()), ElementsAre("a2", "b1")) << "the oldest that there are";
}

TEST_F(ShardSubscriptionTest, AShardThatIsGoneIsTold) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  stream_.write("X", {"x1"});
  EXPECT_THAT(read(*subscription), ElementsAre("x1"));
  stream_.forget("X");
  EXPECT_THAT(read(*subscription), ElementsAre("TrimmedDataAccessException"));
  EXPECT_EQ(try_to_subscribe(subscription->place()).error().type, ErrorType::trimmed_data_access);
}

TEST_F(ShardSubscriptionTest, RefusesWhatIsNoPlaceOfTheStream) {
  stream_.open_shard("X");
  stream_.write("X", {"x1"});
  store::StreamPlace other = place({{"X", "x1"}});
  other.stream = "arn:other";
  EXPECT_EQ(try_to_subscribe(other).error().type, ErrorType::validation);
  other = place({{"X", "x1"}});
  other.positions["X"] = store::SequenceNumber::parse("9999999999999999999999999").value();
  EXPECT_EQ(try_to_subscribe(other).error().type, ErrorType::validation) << "of a later state";
  EXPECT_EQ(try_to_subscribe(store::place_in_sequence(fake_stream, {})).error().type, ErrorType::validation);
  stream_.is_enabled = false;
  EXPECT_EQ(try_to_subscribe().error().type, ErrorType::resource_not_found);
}

TEST_F(ShardSubscriptionTest, AStoreNeedNotKnowTheStartOfAShard) {
  split_shard();
  stream_.knows_starting = false;
  EXPECT_THAT(read_all(*subscribe(place({{"P", "p2"}}))), UnorderedElementsAre("a1", "a2", "b1"));
}

TEST_F(ShardSubscriptionTest, IsPatientWhenThrottled) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  stream_.write("X", {"x1"});
  stream_.write("Y", {"y1"});
  stream_.failures["X"] = {ErrorType::limit_exceeded, ErrorType::throttling,
                           ErrorType::provisioned_throughput_exceeded};
  EXPECT_THAT(read(*subscription), ElementsAre("y1")) << "others are read";
  EXPECT_THAT(read(*subscription), IsEmpty());
  const base::Milliseconds begun = clock_.monotonic();
  EXPECT_THAT(read(*subscription, 100, 1min), ElementsAre("x1"));
  EXPECT_GT(clock_.monotonic() - begun, 500ms) << "later and later";
  stream_.description_failures = {ErrorType::throttling};
  stream_.split("X", {"Z"});
  stream_.write("Z", {"z1"});
  EXPECT_THAT(read(*subscription, 100, 1min), ElementsAre("z1"));
}

TEST_F(ShardSubscriptionTest, NothingIsLostWithAnError) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  stream_.write("X", {"x1"});
  stream_.write("Y", {"y1"});
  stream_.failures["Y"] = {ErrorType::internal_server_error, ErrorType::service_unavailable};
  EXPECT_THAT(read(*subscription), ElementsAre("x1"));
  EXPECT_THAT(read(*subscription), ElementsAre("ServiceUnavailable"));
  EXPECT_THAT(read(*subscription), ElementsAre("y1"));
}

TEST_F(ShardSubscriptionTest, ADisabledStreamEndsWhenEverythingWasRead) {
  split_shard();
  const auto subscription = subscribe();
  stream_.close_shard("A");
  stream_.close_shard("B");
  stream_.is_enabled = false;
  EXPECT_THAT(read(*subscription, 2), ElementsAre("p1", "p2"));
  EXPECT_THAT(read(*subscription), UnorderedElementsAre("a1", "a2", "b1"));
  EXPECT_THAT(read(*subscription), ElementsAre("ResourceNotFoundException"));
}

TEST_F(ShardSubscriptionTest, AStreamThatIsGoneHasEnded) {
  stream_.open_shard("X");
  const auto subscription = subscribe();
  stream_.forget("X");
  stream_.is_gone = true;
  EXPECT_THAT(read(*subscription), ElementsAre("ResourceNotFoundException"));
}

TEST_F(ShardSubscriptionTest, NoShardIsReadTooOften) {
  for (const char* id : {"X", "Y"}) stream_.open_shard(id);
  const auto subscription = subscribe();
  for (int i = 0; i < 20; ++i) {
    stream_.write("X", {"x" + std::to_string(i)});
    EXPECT_THAT(read(*subscription), ElementsAre("x" + std::to_string(i)));
  }
  for (const auto& [id, times] : stream_.reads) {
    EXPECT_EQ(times.size(), 20U) << "each is read by each call";
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 200ms);
  }
}

TEST_F(ShardSubscriptionTest, ReadsSeldomWhileNothingComes) {
  stream_.open_shard("X");
  const auto subscription = subscribe();
  for (int second = 0; second < 60; ++second) EXPECT_THAT(read(*subscription, 100, 1s), IsEmpty());
  EXPECT_LE(clock_.monotonic(), 61s);
  EXPECT_LE(stream_.reads["X"].size(), 65U);
  // What comes then does not wait for long.
  const base::Milliseconds begun = clock_.monotonic();
  on_wait_ = [&] {
    if (!is_written_) stream_.write("X", {"x1"});
    is_written_ = true;
  };
  EXPECT_THAT(read(*subscription, 100, 1min), ElementsAre("x1"));
  EXPECT_LE(clock_.monotonic() - begun, 2s);
}

TEST_F(ShardSubscriptionTest, AnEmptyPageNeedNotBeTheLast) {
  stream_.open_shard("X");
  stream_.write("X", {"x1"});
  const auto subscription = subscribe();
  const auto end = subscription->present_end();
  ASSERT_TRUE(end);
  clock_.advance(1min);
  stream_.empty_pages = 4;
  std::vector<std::string> seen;
  while (!subscription->has_passed(*end)) {
    ASSERT_LT(clock_.monotonic(), 5min);
    for (const std::string& id : read(*subscription)) seen.push_back(id);
  }
  EXPECT_THAT(seen, ElementsAre("x1"));
}

// Not before the children of what has ended were read.
TEST_F(ShardSubscriptionTest, AMomentHasNotPassedWhileShardsWait) {
  split_shard();
  const auto subscription = subscribe();
  const auto end = subscription->present_end();
  ASSERT_TRUE(end);
  clock_.advance(1min);
  std::vector<std::string> seen;
  while (!subscription->has_passed(*end)) {
    ASSERT_LT(clock_.monotonic(), 5min);
    for (const std::string& id : read(*subscription, 1)) seen.push_back(id);
  }
  EXPECT_EQ(seen.size(), 5U);
}

TEST_F(ShardSubscriptionTest, AMomentHasPassedWhenWhatWasWrittenBeforeItWasRead) {
  stream_.open_shard("X");
  stream_.write("X", {"x1"});
  const auto subscription = subscribe();
  const auto end = subscription->present_end();
  ASSERT_TRUE(end);
  std::vector<std::string> seen;
  while (!subscription->has_passed(*end)) {
    ASSERT_LT(clock_.monotonic(), 5min);
    for (const std::string& id : read(*subscription)) seen.push_back(id);
    if (clock_.monotonic() > 5s && seen.size() == 1) stream_.write("X", {"late"});
  }
  EXPECT_THAT(seen, ElementsAre("x1", "late")) << "the stream comes behind the table";
}

// It was said that everything from before a moment had come: whoever believed it has counted something twice.
TEST_F(ShardSubscriptionTest, RecordsThatComeTooLateAreTold) {
  stream_.open_shard("X");
  const auto subscription = subscribe();
  const auto without_moments = subscribe();
  const auto end = subscription->present_end();
  ASSERT_TRUE(end);
  while (!subscription->has_passed(*end)) {
    ASSERT_LT(clock_.monotonic(), 5min);
    EXPECT_THAT(read(*subscription), IsEmpty());
  }
  stream_.write("X", {"x1"});
  EXPECT_THAT(read(*subscription), ElementsAre("x1"));
  stream_.lag = clock_.monotonic() + 11s;
  stream_.write("X", {"late"});
  EXPECT_THAT(read(*subscription), ElementsAre("TrimmedDataAccessException")) << "as if it had been missed";
  EXPECT_THAT(read_all(*without_moments), ElementsAre("x1", "late"));
}

TEST_F(ShardSubscriptionTest, MoreShardsThanCanBeFollowedAreRefused) {
  for (std::size_t i = 0; i < most_shards; ++i) stream_.open_shard("S" + std::to_string(i));
  EXPECT_TRUE(try_to_subscribe());
  stream_.open_shard("T");
  EXPECT_EQ(try_to_subscribe().error().type, ErrorType::limit_exceeded);
}

// What is written from now on comes, and of what was before only what is in the shards that are written now.
TEST_F(ShardSubscriptionTest, AFeedBeginsWithThePresentShards) {
  split_shard();
  stream_.split("B", {"C"});
  stream_.hide_shard("C");
  ShardedStore store(stream_, clock_);
  store::ChangeFeed feed(store, fake_table);
  ASSERT_TRUE(feed.begin(store::ChangeFeed::Start::present));
  EXPECT_EQ(*feed.place(), place({{"A", ""}, {"B", ""}})) << "a child may be shown late";
  stream_.hide_shard("C", false);
  stream_.write("C", {"c1"});
  std::vector<std::string> seen;
  while (seen.size() < 4) {
    const auto changes = feed.next(100, 10min);
    ASSERT_TRUE(changes && !changes->records.empty());
    for (const store::StreamRecord& record : changes->records) {
      seen.push_back(item::attribute_text(record.keys, "id"));
      feed.move_to(record);
    }
  }
  EXPECT_THAT(seen, UnorderedElementsAre("a1", "a2", "b1", "c1"));
  EXPECT_EQ(*feed.place(), place({{"A", "a2"}, {"C", "c1"}}));
  stream_.trim("A", 1);
  ASSERT_TRUE(feed.begin(store::ChangeFeed::Start::present));
  EXPECT_THAT(feed.next(100, 0ms)->records.size(), Ge(1U)) << "it begins with what there is";
}

TEST(ConcurrentShardSubscription, CloseWakesIt) {
  const base::SystemClock clock;
  FakeStream stream(clock);
  stream.open_shard("X");
  const auto subscription = subscribe_to_shards(stream, clock, fake_table, std::nullopt);
  ASSERT_TRUE(subscription);
  std::thread closer([&] { (*subscription)->close(); });
  EXPECT_TRUE((*subscription)->next(1, base::test_patience)->empty());
  closer.join();
  stream.write("X", {"x1"});
  EXPECT_TRUE((*subscription)->next(1, base::test_patience)->empty()) << "closed for good";
}

TEST(ConcurrentShardSubscription, WaitsForWhatComes) {
  const base::SystemClock clock;
  FakeStream stream(clock);
  stream.open_shard("X");
  stream.empty_pages = 3;
  stream.write("X", {"x1"});
  const auto subscription = subscribe_to_shards(stream, clock, fake_table, std::nullopt);
  ASSERT_TRUE(subscription);
  EXPECT_EQ((*subscription)->next(1, base::test_patience)->size(), 1U);
}

}  // namespace
}  // namespace postino::remote
