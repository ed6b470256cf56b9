#include <thread>

#include "base/many_threads_testing.h"
#include "large_item_environment.h"
#include "net/logged_lines_testing.h"
#include "objects/object_upkeep.h"

namespace postino::objects {
namespace {

TEST(ObjectUpkeepConcurrentTest, RemovesWhatIsNoLongerNeeded) {
  LargeItemEnvironment store;
  const auto put = [&](int version) {
    EXPECT_TRUE(succeeded(store.large().put_item(put_of(large_ticket("1", version)))));
  };
  put(1);
  ObjectCleaner cleaner = store.make_cleaner();
  {
    const ObjectUpkeep upkeep(cleaner);
    for (int version = 2; version <= 5; ++version) put(version);
    EXPECT_TRUE(base::eventually([&] { return store.kept().size() == 1; }));
    EXPECT_TRUE(base::eventually([&] { return upkeep.counts().removed == 4; }));
    EXPECT_EQ(store.get(ticket_key("1")), large_ticket("1", 5));
    EXPECT_EQ(upkeep.problem(), std::nullopt);
    store.objects().set_outage(true);
    store::DeleteItemRequest removal;
    removal.table_name = tickets_table;
    removal.key = ticket_key("1");
    EXPECT_TRUE(succeeded(store.engine().delete_item(removal)));
    EXPECT_TRUE(base::eventually([&] { return upkeep.problem().has_value(); }));
    store.objects().set_outage(false);
  }
  ObjectCleaner next = store.make_cleaner();
  EXPECT_EQ(next.follow_once(base::Milliseconds(0)).value_or(-1), 1) << "where it was is written down at the end";
  EXPECT_TRUE(store.kept().empty());
}

TEST(ObjectUpkeepConcurrentTest, NobodyWaitsForAChangeAtTheEnd) {
  LargeItemEnvironment store;
  ObjectCleaner cleaner = store.make_cleaner();
  std::thread follower([&] { EXPECT_EQ(cleaner.follow_once(std::chrono::hours(1)).value_or(-1), 0); });
  cleaner.stop_waiting();
  follower.join();
}

TEST(ObjectUpkeepConcurrentTest, TellsWhenItCannotGoOnAndWhenItCanAgain) {
  LargeItemEnvironment store;
  EXPECT_TRUE(succeeded(store.large().put_item(put_of(large_ticket("1", 1)))));
  ObjectCleaner cleaner = store.make_cleaner();
  const net::LoggedLines lines;
  const ObjectUpkeep upkeep(cleaner, base::Milliseconds(1));
  store.objects().set_outage(true);
  store::DeleteItemRequest removal;
  removal.table_name = tickets_table;
  removal.key = ticket_key("1");
  EXPECT_TRUE(succeeded(store.engine().delete_item(removal)));
  EXPECT_TRUE(base::eventually([&] { return lines.count("objects are not cleaned up") == 1; }));
  store.objects().set_outage(false);
  EXPECT_TRUE(base::eventually([&] { return lines.count("objects are cleaned up again") == 1; }));
  EXPECT_TRUE(base::eventually([&] { return store.kept().empty(); }));
  EXPECT_EQ(lines.count("objects are not cleaned up"), 1) << "however often it was tried";
}

}  // namespace
}  // namespace postino::objects
