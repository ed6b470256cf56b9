#include "store/change_feed.h"

#include <thread>

#include "base/many_threads_testing.h"
#include "feed_environment.h"

namespace postino::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ChangeFeedTest : public testing::Test {
 protected:
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
  ChangeFeed feed_{store_.engine(), feed_table};
};

TEST_F(ChangeFeedTest, GoesOnBehindWhatIsDone) {
  for (const char* id : {"a", "b", "c"}) store_.put(id);
  begin(ChangeFeed::Start::oldest);
  const auto changes = feed_.next(2, 0ms);
  ASSERT_TRUE(changes);
  EXPECT_THAT(ids_of(changes->records), ElementsAre("a", "b"));
  feed_.move_to(changes->records[0].sequence_number);
  EXPECT_THAT(read(feed_), ElementsAre("c")) << "it reads on";
  feed_.drop();
  EXPECT_THAT(read(feed_), ElementsAre("b", "c")) << "those that are not done come again";
  ChangeFeed next(store_.engine(), feed_table);
  next.go_on_behind(*feed_.place());
  EXPECT_THAT(read(next), ElementsAre("b", "c"));
}

TEST_F(ChangeFeedTest, BeginsWithTheOldestOrNow) {
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

TEST_F(ChangeFeedTest, ChangesThatAreGoneAreMissed) {
  store_.put("a");
  begin(ChangeFeed::Start::oldest);
  feed_.move_to(feed_.next(1, 0ms)->records.front().sequence_number);
  store_.pass(30h);
  EXPECT_THAT(read(feed_), IsEmpty()) << "it had seen what is gone";
  store_.put("b");
  store_.pass(30h);
  store_.put("c");
  EXPECT_THAT(read(feed_), ElementsAre("changes were gone before they were handled"));
  EXPECT_FALSE(feed_.is_open());
  EXPECT_THAT(read(feed_), ElementsAre("changes were gone before they were handled")) << "until it begins anew";
  begin(ChangeFeed::Start::oldest);
  EXPECT_THAT(read(feed_), ElementsAre("c"));
}

TEST_F(ChangeFeedTest, AnotherStreamIsNoticed) {
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

TEST_F(ChangeFeedTest, APlaceOfALaterStateIsNoticed) {
  feed_.go_on_behind({.stream = store_.stream(), .position = SequenceNumber{1} << 62});
  EXPECT_THAT(read(feed_), ElementsAre("the checkpoint is ahead of the stream"));
}

TEST_F(ChangeFeedTest, ThePresentEndIsBehindAllThatWasWritten) {
  begin(ChangeFeed::Start::oldest);
  store_.put("a");
  const auto end = feed_.present_end();
  ASSERT_TRUE(end);
  ASSERT_TRUE(*end);
  store_.put("b");
  const auto changes = feed_.next(2, 0ms);
  ASSERT_TRUE(changes);
  EXPECT_LT(changes->records[0].sequence_number, **end);
  EXPECT_GE(changes->records[1].sequence_number, **end);
}

using ConcurrentChangeFeedTest = ChangeFeedTest;

TEST_F(ConcurrentChangeFeedTest, ClosingWakesItForGood) {
  begin(ChangeFeed::Start::oldest);
  std::thread closer([&] { feed_.close(); });
  EXPECT_TRUE(feed_.next(1, base::test_patience));
  closer.join();
  feed_.drop();
  store_.put("a");
  EXPECT_TRUE(feed_.next(1, base::test_patience)->records.empty()) << "also when it is opened again";
}

}  // namespace
}  // namespace postino::store
