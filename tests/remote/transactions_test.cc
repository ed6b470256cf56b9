#include <future>

#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::ErrorType;

class TransactionStoreTest : public StoreTest {
 protected:
  TransactionStoreTest() {
    create_table("left");
    create_table("right", true);
  }

  static store::TransactPut put_left(const std::string& key, int value) {
    store::TransactPut action;
    action.table_name = "left";
    action.item = {{"pk", key}, {"x", value}};
    return action;
  }
  static store::TransactUpdate count_left(const std::string& key) {
    store::TransactUpdate action;
    action.table_name = "left";
    action.key = {{"pk", key}};
    action.update = "ADD #x :one";
    action.placeholders = {expr::Names{{"#x", "x"}}, item::Map{{":one", 1}}};
    return action;
  }
  std::optional<Item> left(const std::string& key) { return store().get_item(get("left", {{"pk", key}}))->item; }
};

TEST_P(TransactionStoreTest, DoesAllOrNothing) {
  ASSERT_TRUE(store().put_item(put("left", {{"pk", "b"}, {"x", 1}})));
  ASSERT_TRUE(store().put_item(put("right", {{"pk", "c"}, {"sk", 1}})));
  store::TransactDelete remove_right;
  remove_right.table_name = "right";
  remove_right.key = {{"pk", "c"}, {"sk", 1}};
  store::TransactConditionCheck check;
  check.table_name = "right";
  check.key = {{"pk", "d"}, {"sk", 1}};
  check.condition = "attribute_not_exists(pk)";
  store::TransactWriteItemsRequest request;
  request.actions = {put_left("a", 7), count_left("b"), remove_right, check};
  request.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  const auto written = store().transact_write_items(request);
  ASSERT_EQ(refusal_of(written), "");
  EXPECT_EQ(left("a"), (Item{{"pk", "a"}, {"x", 7}}));
  EXPECT_EQ(left("b"), (Item{{"pk", "b"}, {"x", 2}}));
  EXPECT_FALSE(store().get_item(get("right", {{"pk", "c"}, {"sk", 1}}))->item);
  ASSERT_EQ(written->consumed_capacity.size(), 2U);
  EXPECT_DOUBLE_EQ(written->consumed_capacity[0].total, 4);
  EXPECT_TRUE(written->consumed_capacity[0].transactional_write);
}

TEST_P(TransactionStoreTest, TellsWhyItWasCancelled) {
  ASSERT_TRUE(store().put_item(put("left", {{"pk", "taken"}, {"x", 5}})));
  store::TransactPut taken = put_left("taken", 6);
  taken.condition = "attribute_not_exists(pk)";
  taken.return_item_on_failure = true;
  store::TransactWriteItemsRequest request;
  request.actions = {put_left("free", 1), taken};
  const auto refused = store().transact_write_items(request);
  EXPECT_EQ(refusal_of(refused),
            "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific "
            "reasons [None, ConditionalCheckFailed]");
  ASSERT_NE(refused.error().details, nullptr);
  const auto& reasons = refused.error().details->reasons;
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].code, "None");
  EXPECT_EQ(reasons[0].message, "");
  EXPECT_EQ(reasons[1].code, "ConditionalCheckFailed");
  EXPECT_EQ(reasons[1].message, "The conditional request failed");
  EXPECT_EQ(reasons[1].item, (Item{{"pk", "taken"}, {"x", 5}}));
  EXPECT_EQ(left("free"), std::nullopt);
}

TEST_P(TransactionStoreTest, IsDoneOnceForOneToken) {
  store::TransactWriteItemsRequest request;
  request.actions = {count_left("counter")};
  request.client_request_token = "a-token";
  ASSERT_EQ(refusal_of(store().transact_write_items(request)), "");
  ASSERT_EQ(refusal_of(store().transact_write_items(request)), "");
  EXPECT_EQ(left("counter"), (Item{{"pk", "counter"}, {"x", 1}}));
  request.actions = {count_left("another")};
  const auto refused = store().transact_write_items(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, ErrorType::idempotent_parameter_mismatch);
  request.client_request_token.reset();
  ASSERT_EQ(refusal_of(store().transact_write_items(request)), "");
  ASSERT_EQ(refusal_of(store().transact_write_items(request)), "");
  EXPECT_EQ(left("another"), (Item{{"pk", "another"}, {"x", 2}})) << "without a token each is another one";
}

TEST_P(TransactionStoreTest, ReadsInTheOrderOfTheRequest) {
  ASSERT_TRUE(store().put_item(put("left", {{"pk", "a"}, {"x", 1}, {"y", 2}})));
  ASSERT_TRUE(store().put_item(put("right", {{"pk", "b"}, {"sk", 1}})));
  store::TransactGetItemsRequest request;
  request.gets.resize(3);
  request.gets[0].table_name = "right";
  request.gets[0].key = {{"pk", "b"}, {"sk", 1}};
  request.gets[1].table_name = "left";
  request.gets[1].key = {{"pk", "none"}};
  request.gets[2].table_name = "left";
  request.gets[2].key = {{"pk", "a"}};
  request.gets[2].projection = "#y";
  request.gets[2].placeholders.names = expr::Names{{"#y", "y"}};
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto found = store().transact_get_items(request);
  ASSERT_EQ(refusal_of(found), "");
  ASSERT_EQ(found->items.size(), 3U);
  EXPECT_EQ(found->items[0], (Item{{"pk", "b"}, {"sk", 1}}));
  EXPECT_EQ(found->items[1], std::nullopt);
  EXPECT_EQ(found->items[2], (Item{{"y", 2}}));
  ASSERT_FALSE(found->consumed_capacity.empty());
  EXPECT_TRUE(found->consumed_capacity[0].transactional_read);
}

TEST_P(TransactionStoreTest, TellsWhatCameOfItLater) {
  store::TransactWriteItemsRequest request;
  request.actions = {put_left("later", 1)};
  std::promise<store::Answer<store::TransactWriteItemsResponse>> promise;
  store().transact_write_items(request, [&](auto answer) { promise.set_value(std::move(answer)); });
  EXPECT_EQ(refusal_of(promise.get_future().get()), "");
  EXPECT_TRUE(left("later"));
}

ON_STORES_WITH(TransactionStoreTest, Ability::transactions);

}  // namespace
}  // namespace postino::remote
