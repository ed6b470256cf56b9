#include "store/change_feed.h"

#include <thread>

#include "base/many_threads_testing.h"
#include "feed_environment.h"
#include "remote/streams/sharded_store_testing.h"

namespace postino::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

// Where a stream is one sequence, and where it is followed shard by shard.
enum class Kind { sequence, shards };

class ChangeFeedTest : public testing::TestWithParam<Kind> {
 protected:
  Store& followed() { return GetParam() == Kind::shards ? static_cast<Store&>(sharded_) : store_.engine(); }

  // What it has now, and what it calls missed.
  static std::vector<std::string> read(ChangeFeed& feed, int limit = 100) {
    const auto changes = feed.next(limit, 0ms);
    EXPECT_TRUE(changes) << changes.error().message;
    if (!changes) return {};
    if (!changes->missed.empty()) return {changes->missed};
    return ids_of(changes->records);
  }
  void begin(ChangeFeed::Start start) { ASSERT_TRUE(feed_.begin(start)); }

  FeedEnvironment store_;
  remote::ShardedStore sharded_{store_.engine(), store_.time()};
  ChangeFeed feed_{followed(), feed_table};
};

TEST_P(ChangeFeedTest, GoesOnBehindWhatIsDone) {
  for (const char* id : {"a", "b", "c"}) store_.put(id);
  begin(ChangeFeed::Start::oldest);
  const auto changes = feed_.next(2, 0ms);
  ASSERT_TRUE(changes);
  EXPECT_THAT(ids_of(changes->records), ElementsAre("a", "b"));
  feed_.move_to(changes->records[0]);
  EXPECT_THAT(read(feed_), ElementsAre("c")) << "it reads on";
  feed_.drop();
  EXPECT_THAT(read(feed_), ElementsAre("b", "c")) << "those that are not done come again";
  ChangeFeed next(followed(), feed_table);
  next.go_on_behind(*feed_.place());
  EXPECT_THAT(read(next), ElementsAre("b", "c"));
}

TEST_P(ChangeFeedTest, BeginsWithTheOldestOrNow) {
  store_.put("old");
  store_.pass(6h);
  store_.put("new");
  begin(ChangeFeed::Start::oldest);
  EXPECT_THAT(read(feed_), ElementsAre("old", "new"));
  begin(ChangeFeed::Start::present);
  EXPECT_THAT(read(feed_), ElementsAre("new")) << "of the present shard";
  store_.pass(30h);
  begin(ChangeFeed::Start::present);
  EXPECT_THAT(read(feed_), IsEmpty());
  const StreamPlace place = *feed_.place();
  store_.put("later");
  EXPECT_THAT(read(feed_), ElementsAre("later"));
  feed_.go_on_behind(place);
  EXPECT_THAT(read(feed_), ElementsAre("later")) << "nothing is missed from its place on";
}

TEST_P(ChangeFeedTest, ChangesThatAreGoneAreMissed) {
  store_.put("a");
  begin(ChangeFeed::Start::oldest);
  feed_.move_to(feed_.next(1, 0ms)->records.front());
  for (int step = 0; step < 5; ++step) {
    store_.pass(6h);
    EXPECT_THAT(read(feed_), IsEmpty()) << "it had seen what is gone";
  }
  store_.put("b");
  store_.pass(30h);
  store_.put("c");
  EXPECT_THAT(read(feed_), ElementsAre("changes were gone before they were handled"));
  EXPECT_FALSE(feed_.is_open());
  EXPECT_THAT(read(feed_), ElementsAre("changes were gone before they were handled")) << "until it starts over";
  begin(ChangeFeed::Start::oldest);
  EXPECT_THAT(read(feed_), ElementsAre("c"));
}

TEST_P(ChangeFeedTest, AnotherStreamIsNoticed) {
  store_.put("a");
  begin(ChangeFeed::Start::oldest);
  store_.end_stream();
  store_.put("unseen");
  EXPECT_THAT(read(feed_), ElementsAre("a")) << "what the stream had is read";
  EXPECT_THAT(read(feed_), IsEmpty());
  EXPECT_FALSE(feed_.is_open());
  EXPECT_EQ(feed_.next(1, 0ms).error().type, ErrorType::resource_not_found);
  store_.begin_stream();
  EXPECT_THAT(read(feed_), ElementsAre("the table has another stream"));
  begin(ChangeFeed::Start::oldest);
  store_.put("b");
  EXPECT_THAT(read(feed_), ElementsAre("b"));
}

TEST_P(ChangeFeedTest, APlaceOfALaterStateIsNoticed) {
  begin(ChangeFeed::Start::oldest);
  StreamPlace place = *feed_.place();
  for (auto& [shard, position] : place.positions) position = SequenceNumber::parse("104611686018427387904").value();
  feed_.go_on_behind(place);
  EXPECT_THAT(read(feed_), ElementsAre("the checkpoint is ahead of the stream"));
}

TEST_P(ChangeFeedTest, ThePresentEndIsBehindAllThatWasWritten) {
  begin(ChangeFeed::Start::oldest);
  store_.put("a");
  store_.put("b");
  const auto end = feed_.present_end();
  ASSERT_TRUE(end);
  EXPECT_FALSE(feed_.has_passed(*end));
  // Others go on writing, and faster than it reads if its place in the stream can be told.
  std::vector<std::string> seen;
  while (!feed_.has_passed(*end)) {
    for (const char* id : {"c", "d"}) store_.put(id);
    for (const std::string& id : read(feed_, GetParam() == Kind::shards ? 100 : 1)) seen.push_back(id);
    ASSERT_LT(seen.size(), 1'000U);
  }
  EXPECT_THAT(seen, IsSupersetOf({"a", "b"}));
}

// A place moves on with the shards of the stream, also where nothing is written.
TEST_P(ChangeFeedTest, NothingIsMissedWhereNothingHappens) {
  store_.put("a");
  begin(ChangeFeed::Start::oldest);
  feed_.move_to(feed_.next(1, 0ms)->records.front());
  for (int step = 0; step < 10; ++step) {
    store_.pass(6h);
    EXPECT_THAT(read(feed_), IsEmpty());
  }
  EXPECT_EQ(feed_.place()->positions.size(), 1U);
  ChangeFeed next(followed(), feed_table);
  next.go_on_behind(*feed_.place());
  store_.put("b");
  EXPECT_THAT(read(next), ElementsAre("b"));
}

TEST_P(ChangeFeedTest, APlaceOfAnotherKindIsNone) {
  begin(ChangeFeed::Start::oldest);
  StreamPlace place{.stream = store_.stream(), .positions = {}};
  feed_.go_on_behind(place);
  EXPECT_THAT(read(feed_), ElementsAre("the checkpoint is ahead of the stream")) << "of none";
  place.positions = {
      {GetParam() == Kind::shards ? "" : "shardId-1", SequenceNumber::parse("100000000000000000001").value()}};
  feed_.go_on_behind(place);
  EXPECT_THAT(read(feed_), ElementsAre("the checkpoint is ahead of the stream"));
}

class ConcurrentChangeFeedTest : public ChangeFeedTest {};

TEST_P(ConcurrentChangeFeedTest, ClosingWakesItForGood) {
  begin(ChangeFeed::Start::oldest);
  std::thread closer([&] { feed_.close(); });
  EXPECT_TRUE(feed_.next(1, base::test_patience));
  closer.join();
  feed_.drop();
  store_.put("a");
  EXPECT_TRUE(feed_.next(1, base::test_patience)->records.empty()) << "also when it is opened again";
}

INSTANTIATE_TEST_SUITE_P(Both, ChangeFeedTest, testing::Values(Kind::sequence, Kind::shards));
INSTANTIATE_TEST_SUITE_P(Both, ConcurrentChangeFeedTest, testing::Values(Kind::sequence, Kind::shards));

}  // namespace
}  // namespace postino::store
