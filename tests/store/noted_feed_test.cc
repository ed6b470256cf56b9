#include "store/noted_feed.h"

#include "feed_environment.h"
#include "remote/streams/sharded_store_testing.h"
#include "store/forwarding_store.h"

namespace postino::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const item::Key note_key{{"id", "note"}};

// True: the stream is followed shard by shard.
class NotedFeedTest : public testing::TestWithParam<bool> {
 protected:
  Store& followed() { return GetParam() ? static_cast<Store&>(sharded_) : store_.engine(); }
  NotedFeed make(Store& store) { return {store, feed_table, note_, store_.clock(), 1h}; }

  // Reads everything that is there. The ids, and what was missed.
  static std::vector<std::string> read(NotedFeed& feed) {
    std::vector<std::string> seen;
    while (true) {
      const auto changes = feed.next(1, 0ms);
      EXPECT_TRUE(changes) << changes.error().message;
      if (!changes) return seen;
      if (!changes->missed.empty()) seen.push_back(changes->missed);
      if (changes->records.empty() && changes->missed.empty()) return seen;
      for (const std::string& id : ids_of(changes->records)) seen.push_back(id);
      for (const StreamRecord& record : changes->records) feed.done(record);
    }
  }
  int notes() {
    int count = 0;
    const auto changes = store_.engine().subscribe(feed_table, std::nullopt).value()->next(1'000, 0ms);
    for (const std::string& id : ids_of(changes.value())) count += id == "note" ? 1 : 0;
    return count;
  }

  FeedEnvironment store_;
  remote::ShardedStore sharded_{store_.engine(), store_.time()};
  ItemNote note_{store_.engine(), feed_table, note_key};
};

TEST_P(NotedFeedTest, TheNextOneGoesOnWhereTheLastNoteIs) {
  store_.put("a");
  {
    NotedFeed feed = make(followed());
    EXPECT_THAT(read(feed), ElementsAre("no place was noted", "a"));
    ASSERT_TRUE(feed.note());
    store_.put("b");
    EXPECT_THAT(read(feed), ElementsAre("note", "b"));
  }
  NotedFeed next = make(followed());
  EXPECT_THAT(read(next), ElementsAre("note", "b")) << "what came after the note is read again";
}

// The form of the item: other programs see it.
TEST_P(NotedFeedTest, TheNoteIsAnItem) {
  const StreamPlace place = place_in_sequence("arn:1", SequenceNumber::parse("100000000000000000042").value());
  ASSERT_TRUE(note_.write(place));
  EXPECT_THAT(store_.scan(feed_table),
              ElementsAre(item::Item{{"id", "note"}, {"sequence", "100000000000000000042"}, {"stream", "arn:1"}}));
  EXPECT_EQ(note_.read().value(), place);
}

TEST_P(NotedFeedTest, ANoteThatCannotBeReadIsNone) {
  store_.put("note");
  NotedFeed feed = make(followed());
  EXPECT_THAT(read(feed), ElementsAre("no place was noted", "note"));
}

TEST_P(NotedFeedTest, APlaceIsNotedAlsoWhereNothingHappened) {
  NotedFeed feed = make(followed());
  EXPECT_THAT(read(feed), ElementsAre("no place was noted"));
  ASSERT_TRUE(feed.note());
  NotedFeed next = make(followed());
  EXPECT_THAT(read(next), ElementsAre("note")) << "it does not start over";
}

// The note is a change of the table that it is about, and moves the place itself.
TEST_P(NotedFeedTest, IsNotWrittenMoreOftenThanItsPause) {
  store_.put("a");
  NotedFeed feed = make(followed());
  for (int minute = 0; minute < 170; ++minute) {
    read(feed);
    ASSERT_TRUE(feed.note_in_time());
    store_.time().advance(1min);
  }
  EXPECT_EQ(notes(), 2);
}

// Nothing happens for days but its own notes: they are no reason to believe that something was missed.
TEST_P(NotedFeedTest, NothingIsMissedWhereNothingHappens) {
  store_.put("a");
  {
    NotedFeed feed = make(followed());
    for (int day = 0; day < 12; ++day) {
      read(feed);
      ASSERT_TRUE(feed.note_in_time());
      store_.pass(6h);
    }
  }
  NotedFeed next = make(followed());
  EXPECT_THAT(read(next), ElementsAre("note"));
}

TEST_P(NotedFeedTest, WhatWasMissedIsToldOnce) {
  store_.put("a");
  {
    NotedFeed feed = make(followed());
    read(feed);
    ASSERT_TRUE(feed.note());
  }
  store_.put("gone");
  store_.pass(30h);
  store_.put("b");
  {
    NotedFeed feed = make(followed());
    EXPECT_THAT(read(feed), ElementsAre("changes were gone before they were handled", "b"));
    EXPECT_THAT(read(feed), IsEmpty());
  }
  NotedFeed again = make(followed());
  EXPECT_THAT(read(again), ElementsAre("changes were gone before they were handled", "b"))
      << "until the reader has done what it must, and notes it";
}

// A store whose streams cannot be read for a while.
class SilentStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Answer<std::unique_ptr<Subscription>> subscribe(const std::string& table, std::optional<StreamPlace> after) override {
    TRY(std::unique_ptr<Subscription> subscription, inner().subscribe(table, std::move(after)));
    return std::make_unique<SilentSubscription>(*this, std::move(subscription));
  }
  int silences = 0;

 private:
  class SilentSubscription final : public Subscription {
   public:
    SilentSubscription(SilentStore& store, std::unique_ptr<Subscription> inner)
        : store_(store), inner_(std::move(inner)) {}
    Answer<std::vector<StreamRecord>> next(int limit, base::Milliseconds timeout) override {
      if (store_.silences-- > 0) return refuse(ErrorType::service_unavailable, "not now");
      return inner_->next(limit, timeout);
    }
    StreamPlace place() const override { return inner_->place(); }
    Answer<StreamMoment> present_end() override { return inner_->present_end(); }
    bool has_passed(const StreamMoment& moment) const override { return inner_->has_passed(moment); }
    void close() override { inner_->close(); }

   private:
    SilentStore& store_;
    const std::unique_ptr<Subscription> inner_;
  };
};

TEST_P(NotedFeedTest, WhatWasMissedIsToldAlsoAfterAnError) {
  store_.put("a");
  SilentStore silent(followed());
  silent.silences = 1;
  NotedFeed feed = make(silent);
  EXPECT_FALSE(feed.next(1, 0ms)) << "it has begun, and cannot read";
  EXPECT_THAT(read(feed), ElementsAre("no place was noted", "a"));
}

TEST_P(NotedFeedTest, ATableWithoutAStreamIsNotFound) {
  store_.end_stream();
  NotedFeed feed = make(followed());
  EXPECT_EQ(feed.next(1, 0ms).error().code, base::ErrorCode::not_found);
  store_.begin_stream();
  EXPECT_THAT(read(feed), ElementsAre("no place was noted"));
}

INSTANTIATE_TEST_SUITE_P(Both, NotedFeedTest, testing::Bool());

}  // namespace
}  // namespace postino::store
