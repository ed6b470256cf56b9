#include "store/sharded_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/many_threads_testing.h"
#include "engine/embedded_store_testing.h"
#include "store/forwarding_store.h"
#include "store/table_setup.h"

namespace postino::store {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr int shards = 10;

// Answers that it does not know of transactions that were done.
class ForgetfulStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::transact_write_items;
  Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest& request) override {
    auto answer = inner().transact_write_items(request);
    if (++writes_ % 3 == 0) return answer;
    return refuse(ErrorType::internal_server_error, "not known");
  }

 private:
  int writes_ = 0;
};

class ShardedCounterTest : public testing::Test {
 protected:
  ShardedCounterTest() {
    const auto made =
        store_.engine().create_table(table_request("counts", {{"PK", item::Type::string}, {"SK", item::Type::string}}));
    EXPECT_TRUE(made);
  }
  CounterPlace place(int count = shards, int ever = 1) const { return {"counts", Shards("COUNTER", count, ever)}; }
  ShardedCounter counter(int count = shards, int ever = 1) {
    return ShardedCounter(store_.engine(), place(count, ever), store_.retry(), store_.random());
  }
  std::set<std::string> partitions() {
    std::set<std::string> found;
    for (const item::Item& item : store_.scan("counts")) found.insert(item.find("PK")->as<std::string>());
    return found;
  }

  engine::EmbeddedStore store_{std::make_shared<base::ManualClock>(engine::embedded_start)};
};

TEST(ShardsTest, APartitionIsSpreadByWhatIsWritten) {
  const Shards one("STATUS#NEW", 1);
  EXPECT_EQ(one.of("a"), "STATUS#NEW");
  EXPECT_THAT(one.all(), ElementsAre("STATUS#NEW"));
  const Shards three("STATUS#NEW", 3);
  EXPECT_EQ(three.of("a"), three.of("a"));
  EXPECT_THAT(three.all(), ElementsAre("STATUS#NEW", "STATUS#NEW#0", "STATUS#NEW#1", "STATUS#NEW#2"));
  std::set<std::string> used;
  for (int i = 0; i < 100; ++i) used.insert(three.of("ticket" + std::to_string(i)));
  EXPECT_THAT(used, UnorderedElementsAre("STATUS#NEW#0", "STATUS#NEW#1", "STATUS#NEW#2"));
  const Shards fewer("STATUS#NEW", 1, 3);
  EXPECT_EQ(fewer.of("a"), "STATUS#NEW");
  EXPECT_EQ(fewer.all(), three.all()) << "what was written before is still read";
}

TEST_F(ShardedCounterTest, IsTheSumOfItsShards) {
  ShardedCounter tickets = counter();
  EXPECT_EQ(tickets.read().value_or(-1), 0);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(tickets.add(2, "ticket" + std::to_string(i)));
  ASSERT_TRUE(tickets.add(-50, "x"));
  EXPECT_EQ(tickets.read().value_or(-1), 150);
  EXPECT_EQ(partitions().size(), 10U);
  EXPECT_TRUE(partitions().contains("COUNTER#9"));
}

TEST_F(ShardedCounterTest, KeepsItsValueWithAnotherNumberOfShards) {
  ASSERT_TRUE(counter(10).add(5, "a"));
  ASSERT_TRUE(counter(1).add(1, "a"));
  ASSERT_TRUE(counter(20, 20).add(3, "b"));
  EXPECT_EQ(counter(20, 20).read().value_or(-1), 9);
  EXPECT_EQ(counter(1, 20).read().value_or(-1), 9);
}

TEST_F(ShardedCounterTest, IsAddedToInATransaction) {
  ShardedCounter tickets = counter();
  TransactWriteItemsRequest request;
  request.actions.emplace_back(tickets.add_action(1, "a"));
  TransactPut put;
  put.table_name = "counts";
  put.item = {{"PK", "TICKET#1"}, {"SK", "METADATA"}};
  put.condition = "attribute_not_exists(PK)";
  request.actions.emplace_back(put);
  EXPECT_TRUE(store_.engine().transact_write_items(request));
  EXPECT_FALSE(store_.engine().transact_write_items(request));
  EXPECT_EQ(tickets.read().value_or(-1), 1);
}

TEST_F(ShardedCounterTest, WhatIsNoNumberBeginsAnew) {
  ShardedCounter tickets = counter();
  ASSERT_TRUE(tickets.add(4, "a"));
  PutItemRequest put;
  put.table_name = "counts";
  const Shards spread("COUNTER", shards);
  std::string other = "b";
  while (spread.of(other) == spread.of("a")) other += "b";
  put.item = {{"PK", spread.of(other)}, {"SK", "COUNT"}, {"count_value", "many"}};
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_EQ(tickets.read().value_or(-1), 4);
  ASSERT_TRUE(tickets.add(3, other));
  EXPECT_EQ(tickets.read().value_or(-1), 7);
}

TEST_F(ShardedCounterTest, CountsOnceWhenTheAnswerIsLost) {
  ForgetfulStore forgetful(store_.engine());
  ShardedCounter tickets(forgetful, place(), store_.retry(), store_.random());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(tickets.add(1, std::to_string(i)));
  EXPECT_EQ(tickets.read().value_or(-1), 20);
}

TEST_F(ShardedCounterTest, ConcurrentAdditionsAllCount) {
  constexpr int threads = 4;
  const int rounds = base::volume(500);
  ShardedCounter tickets = counter();
  base::run_threads(threads, [&](int number) {
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(tickets.add(1, std::to_string(number) + "/" + std::to_string(i)));
  });
  EXPECT_EQ(tickets.read().value_or(-1), threads * rounds);
}

}  // namespace
}  // namespace postino::store
