#include <algorithm>
#include <future>

#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using testing::UnorderedElementsAre;

class BatchStoreTest : public StoreTest {
 protected:
  BatchStoreTest() {
    create_table("left");
    create_table("right", true);
  }

  static store::BatchGetItemRequest too_many_keys() {
    store::BatchGetItemRequest request;
    request.tables.resize(1);
    request.tables[0].table_name = "left";
    for (int i = 0; i < 101; ++i) request.tables[0].keys.push_back({{"pk", std::to_string(i)}});
    return request;
  }
};

TEST_P(BatchStoreTest, WritesAndReadsSeveralTables) {
  ASSERT_TRUE(store().put_item(put("left", {{"pk", "old"}})));
  store::BatchWriteItemRequest write;
  write.tables = {{"left", {store::BatchPut{{{"pk", "a"}, {"x", 1}}}, store::BatchDelete{{{"pk", "old"}}}}},
                  {"right", {store::BatchPut{{{"pk", "b"}, {"sk", 2}}}}}};
  write.report.consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto written = store().batch_write_item(write);
  ASSERT_EQ(refusal_of(written), "");
  EXPECT_TRUE(written->unprocessed.empty());
  ASSERT_EQ(written->consumed_capacity.size(), 2U);

  store::BatchGetItemRequest read;
  read.tables.resize(2);
  read.tables[0].table_name = "right";
  read.tables[0].keys = {{{"pk", "b"}, {"sk", 2}}, {{"pk", "b"}, {"sk", 3}}};
  read.tables[1].table_name = "left";
  read.tables[1].keys = {{{"pk", "a"}}, {{"pk", "old"}}};
  read.tables[1].projection = "#x";
  read.tables[1].placeholders.names = expr::Names{{"#x", "x"}};
  read.tables[1].consistent_read = true;
  const auto found = store().batch_get_item(read);
  ASSERT_EQ(refusal_of(found), "");
  ASSERT_EQ(found->tables.size(), 2U);
  EXPECT_EQ(found->tables[0].table_name, "right") << "in the order of the request";
  EXPECT_THAT(found->tables[0].items, UnorderedElementsAre(Item{{"pk", "b"}, {"sk", 2}}));
  EXPECT_EQ(found->tables[1].table_name, "left");
  EXPECT_THAT(found->tables[1].items, UnorderedElementsAre(Item{{"x", 1}}));
  EXPECT_TRUE(found->consumed_capacity.empty()) << "nobody asked for it";
}

TEST_P(BatchStoreTest, NamesTablesWithoutAnyItem) {
  store::BatchGetItemRequest read;
  read.tables.resize(1);
  read.tables[0].table_name = "left";
  read.tables[0].keys = {{{"pk", "none"}}};
  const auto found = store().batch_get_item(read);
  ASSERT_EQ(refusal_of(found), "");
  ASSERT_EQ(found->tables.size(), 1U);
  EXPECT_TRUE(found->tables[0].items.empty());
}

TEST_P(BatchStoreTest, RefusesWhatIsTooMuch) {
  store::BatchWriteItemRequest write;
  write.tables.push_back({"left", {}});
  for (int i = 0; i < 26; ++i) write.tables[0].writes.emplace_back(store::BatchPut{{{"pk", std::to_string(i)}}});
  const auto written = store().batch_write_item(write);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().type, store::ErrorType::validation);

  const auto found = store().batch_get_item(too_many_keys());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().type, store::ErrorType::validation);
}

class BatchWordingTest : public BatchStoreTest {};

TEST_P(BatchWordingTest, SaysHowManyKeysAreTooMany) {
  EXPECT_EQ(refusal_of(store().batch_get_item(too_many_keys())),
            "ValidationException: 1 validation error detected: Value at 'RequestItems.left.member.Keys' failed to "
            "satisfy constraint: Member must have length less than or equal to 100");
}

TEST_P(BatchStoreTest, RefusesAKeyThatIsThereTwice) {
  store::BatchWriteItemRequest write;
  write.tables = {{"left", {store::BatchPut{{{"pk", "a"}}}, store::BatchDelete{{{"pk", "a"}}}}}};
  EXPECT_EQ(refusal_of(store().batch_write_item(write)),
            "ValidationException: Provided list of item keys contains duplicates");
}

TEST_P(BatchStoreTest, TellsWhatCameOfItLater) {
  store::BatchWriteItemRequest write;
  write.tables = {{"left", {store::BatchPut{{{"pk", "later"}}}}}};
  std::promise<store::Answer<store::BatchWriteItemResponse>> promise;
  store().batch_write_item(write, [&](auto answer) { promise.set_value(std::move(answer)); });
  EXPECT_EQ(refusal_of(promise.get_future().get()), "");
  EXPECT_TRUE(store().get_item(get("left", {{"pk", "later"}}))->item);
}

ON_EVERY_STORE(BatchStoreTest);
ON_STORES_WITH(BatchWordingTest, Ability::wording);

}  // namespace
}  // namespace postino::remote
