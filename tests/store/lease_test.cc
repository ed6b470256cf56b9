// Which one of several processes follows a stream.
#include "store/lease.h"

#include "feed_environment.h"
#include "store/noted_feed.h"
#include "store/shared_store_testing.h"
#include "store/table_setup.h"

namespace postino::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string lease_table = "leases";
const item::Key lease_key{{"pk", "LEASE#changes"}};

class LeaseTest : public testing::Test {
 protected:
  LeaseTest() {
    EXPECT_TRUE(prepare_table(store_.engine(), table_request(lease_table, {{"pk", item::Type::string}}), ""));
  }

  Lease lease_of(const std::string& process) { return {shared_, lease_table, lease_key, process, store_.clock()}; }
  item::Item stored() {
    GetItemRequest request;
    request.table_name = lease_table;
    request.key = lease_key;
    return store_.engine().get_item(request)->item.value_or(item::Item());
  }
  // As processes do it, every few seconds. True: all of them hold it, each time.
  bool holds_for(Lease& lease, base::Milliseconds time) {
    for (base::Milliseconds passed{0}; passed < time; passed += 5s) {
      if (!lease.hold().value()) return false;
      store_.time().advance(5s);
    }
    return true;
  }

  FeedEnvironment store_;
  SharedStore shared_{store_.engine()};
  ItemNote note_{shared_, feed_table, {{"id", "note"}}};
};

TEST_F(LeaseTest, OneProcessHasItForAsLongAsItLives) {
  Lease first = lease_of("first"), second = lease_of("second");
  EXPECT_TRUE(first.hold().value());
  for (int minute = 0; minute < 10; ++minute) {
    EXPECT_FALSE(second.hold().value());
    EXPECT_TRUE(holds_for(first, 1min));
  }
}

// The form of the item.
TEST_F(LeaseTest, IsAnItem) {
  Lease lease = lease_of("first");
  ASSERT_TRUE(lease.hold().value());
  EXPECT_EQ(stored(), (item::Item{{"pk", "LEASE#changes"}, {"owner", "first"}, {"version", 1}}));
  store_.time().advance(9s);
  ASSERT_TRUE(lease.hold().value());
  EXPECT_EQ(*stored().find("version"), item::AttributeValue(1)) << "it is not written each time";
  store_.time().advance(2s);
  ASSERT_TRUE(lease.hold().value());
  EXPECT_EQ(stored(), (item::Item{{"pk", "LEASE#changes"}, {"owner", "first"}, {"version", 2}}));
  lease.release();
  EXPECT_EQ(stored(), (item::Item{{"pk", "LEASE#changes"}, {"version", 3}}));
}

TEST_F(LeaseTest, IsTakenFromWhoIsSilent) {
  Lease first = lease_of("first"), second = lease_of("second");
  ASSERT_TRUE(first.hold().value());
  EXPECT_FALSE(second.hold().value());
  store_.time().advance(Lease::usual_life - 1ms);
  EXPECT_FALSE(second.hold().value());
  store_.time().advance(1ms);
  EXPECT_TRUE(second.hold().value());
  EXPECT_FALSE(first.hold().value()) << "it was stopped, and goes on";
  EXPECT_FALSE(first.is_held());
  first.release();
  EXPECT_TRUE(holds_for(second, 1min)) << "what is not one's own is not given back";
}

TEST_F(LeaseTest, IsTakenAtOnceFromWhoGivesItBack) {
  Lease first = lease_of("first"), second = lease_of("second");
  ASSERT_TRUE(first.hold().value());
  first.release();
  EXPECT_TRUE(second.hold().value());
  EXPECT_FALSE(first.hold().value());
}

TEST_F(LeaseTest, ALostAnswerDoesNotLoseIt) {
  Lease first = lease_of("first");
  shared_.lose_answers(1, lease_table);
  EXPECT_FALSE(first.hold()) << "it is not known";
  EXPECT_TRUE(first.hold().value());
  store_.time().advance(15s);
  shared_.lose_answers(1, lease_table);
  EXPECT_FALSE(first.hold());
  EXPECT_TRUE(first.hold().value());
  EXPECT_TRUE(holds_for(first, 1min));
}

TEST_F(LeaseTest, WhatCannotBeReadIsReplaced) {
  PutItemRequest damaged;
  damaged.table_name = lease_table;
  damaged.item = {{"pk", "LEASE#changes"}, {"owner", "another program"}, {"version", "one"}};
  ASSERT_TRUE(store_.engine().put_item(damaged));
  Lease first = lease_of("first");
  EXPECT_TRUE(first.hold().value());
}

// A process: what it reads is done.
struct Reader {
  Reader(Store& store, PlaceNote& note, Lease& lease, const base::Clock& clock)
      : feed(store, feed_table, note, clock, 1h, &lease) {}

  std::vector<std::string> read() {
    const auto changes = feed.next(100, 0ms);
    EXPECT_TRUE(changes) << changes.error().message;
    if (!changes) return {};
    for (const StreamRecord& record : changes->records) feed.done(record);
    return ids_of(changes->records);
  }
  NotedFeed feed;
};

TEST_F(LeaseTest, OneProcessReadsAndTheNextGoesOnFromItsNote) {
  Lease first_lease = lease_of("first"), second_lease = lease_of("second");
  Reader first(shared_, note_, first_lease, store_.clock());
  Reader second(shared_, note_, second_lease, store_.clock());
  store_.put("a");
  EXPECT_THAT(first.read(), ElementsAre("a"));
  EXPECT_THAT(second.read(), IsEmpty());
  ASSERT_TRUE(first.feed.note());
  store_.put("b");
  EXPECT_THAT(first.read(), ElementsAre("note", "b"));
  // It is stopped, without another note.
  EXPECT_THAT(second.read(), IsEmpty());
  store_.time().advance(Lease::usual_life);
  EXPECT_THAT(second.read(), ElementsAre("note", "b"));
  ASSERT_TRUE(second.feed.note());
  const auto noted = note_.read().value();
  ASSERT_TRUE(first.feed.note());
  EXPECT_EQ(note_.read().value(), noted) << "whose turn it is not any more writes no place";
  store_.put("c");
  EXPECT_THAT(first.read(), IsEmpty());
  EXPECT_THAT(second.read(), ElementsAre("note", "c"));
  ASSERT_TRUE(second.feed.note());
  second.feed.leave();
  store_.put("d");
  EXPECT_THAT(first.read(), ElementsAre("note", "d")) << "not what the other has done";
}

}  // namespace
}  // namespace postino::store
