#include <future>

#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::ErrorType;
using store::ReturnValues;

class ItemStoreTest : public StoreTest {
 protected:
  ItemStoreTest() { create_table("things"); }

  std::optional<Item> stored(const std::string& key) {
    const auto found = store().get_item(get("things", {{"pk", key}}));
    EXPECT_EQ(refusal_of(found), "");
    return found ? found->item : std::nullopt;
  }
};

Item item_of_every_type() {
  return {{"pk", "every \"type\" \\ \n \xC3\xBC \xF0\x9F\x93\xAE"},
          {"empty", ""},
          {"number", item::Number::parse("-1234567890123456789012345678.9012345678").value()},
          {"small", item::Number::parse("1e-130").value()},
          {"bytes", item::Binary{std::string("\0\xFF\x80 a", 5)}},
          {"yes", true},
          {"no", false},
          {"nothing", item::Null{}},
          {"strings", item::StringSet({"b", "a"})},
          {"numbers", item::NumberSet({3, 1, 2})},
          {"binaries", item::BinarySet({item::Binary{"x"}, item::Binary{std::string("\0", 1)}})},
          {"list", item::List{1, "two", item::List{}, item::Map{{"deep", item::List{true}}}}},
          {"map", item::Map{{"a.b", 1}, {"c", item::Map{}}}}};
}

TEST_P(ItemStoreTest, KeepsEveryType) {
  const Item item = item_of_every_type();
  ASSERT_EQ(refusal_of(store().put_item(put("things", item))), "");
  const auto found = store().get_item(get("things", {{"pk", *item.find("pk")}}));
  ASSERT_EQ(refusal_of(found), "");
  EXPECT_EQ(found->item, item);
}

TEST_P(ItemStoreTest, TellsWhatIsNotThere) { EXPECT_EQ(stored("none"), std::nullopt); }

TEST_P(ItemStoreTest, ReadsTheAttributesAskedFor) {
  ASSERT_TRUE(store().put_item(put("things", {{"pk", "a"}, {"name", "n"}, {"list", item::List{1, 2, 3}}, {"x", 1}})));
  store::GetItemRequest request = get("things", {{"pk", "a"}});
  request.projection = "#name, #list[1]";
  request.placeholders.names = expr::Names{{"#name", "name"}, {"#list", "list"}};
  const auto found = store().get_item(request);
  ASSERT_EQ(refusal_of(found), "");
  EXPECT_EQ(found->item, (Item{{"name", "n"}, {"list", item::List{2}}}));
}

TEST_P(ItemStoreTest, ReturnsWhatAPutReplaces) {
  ASSERT_TRUE(store().put_item(put("things", {{"pk", "a"}, {"x", 1}})));
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"x", 2}});
  request.return_values = ReturnValues::all_old;
  EXPECT_EQ(store().put_item(request)->attributes, (Item{{"pk", "a"}, {"x", 1}}));
  request.return_values = ReturnValues::none;
  EXPECT_EQ(store().put_item(request)->attributes, std::nullopt);
}

TEST_P(ItemStoreTest, PutsOnlyWhereTheConditionHolds) {
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"x", 1}});
  request.condition = "attribute_not_exists(pk)";
  ASSERT_EQ(refusal_of(store().put_item(request)), "");
  request.item.set("x", 2);
  const auto refused = store().put_item(request);
  EXPECT_EQ(refusal_of(refused), "ConditionalCheckFailedException: The conditional request failed");
  EXPECT_EQ(refused.error().details, nullptr) << "the item was not asked for";
  EXPECT_EQ(stored("a"), (Item{{"pk", "a"}, {"x", 1}}));
}

class RefusedItemTest : public ItemStoreTest {};

TEST_P(RefusedItemTest, IsReturnedToThoseWhoAsk) {
  ASSERT_TRUE(store().put_item(put("things", {{"pk", "a"}, {"x", 1}})));
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"x", 2}});
  request.condition = "attribute_not_exists(pk)";
  request.return_item_on_failure = true;
  const auto refused = store().put_item(request);
  ASSERT_EQ(refused.error().type, ErrorType::conditional_check_failed);
  ASSERT_NE(refused.error().details, nullptr);
  EXPECT_EQ(refused.error().details->item, (Item{{"pk", "a"}, {"x", 1}}));
}

ON_STORES_WITH(RefusedItemTest, Ability::refused_items);

TEST_P(ItemStoreTest, UpdatesWithEveryAction) {
  ASSERT_TRUE(store().put_item(put(
      "things",
      {{"pk", "a"}, {"count", 1}, {"list", item::List{1}}, {"tags", item::StringSet({"x", "y"})}, {"gone", true}})));
  store::UpdateItemRequest request =
      update("things", {{"pk", "a"}},
             "SET #list = list_append(#list, :more), best = :best ADD #count :one REMOVE gone DELETE tags :gone",
             {{":more", item::List{2}}, {":best", "b"}, {":one", 1}, {":gone", item::StringSet({"x"})}});
  request.placeholders.names = expr::Names{{"#count", "count"}, {"#list", "list"}};
  ASSERT_EQ(refusal_of(store().update_item(request)), "");
  EXPECT_EQ(
      stored("a"),
      (Item{{"pk", "a"}, {"count", 2}, {"list", item::List{1, 2}}, {"best", "b"}, {"tags", item::StringSet({"y"})}}));
}

TEST_P(ItemStoreTest, ReturnsWhatAnUpdateTouches) {
  ASSERT_TRUE(store().put_item(put("things", {{"pk", "a"}, {"x", 1}, {"y", "same"}})));
  store::UpdateItemRequest request = update("things", {{"pk", "a"}}, "SET x = x + :one", {{":one", 1}});
  const auto returned = [&](ReturnValues values) {
    request.return_values = values;
    const auto answer = store().update_item(request);
    EXPECT_EQ(refusal_of(answer), "");
    return answer ? answer->attributes : std::nullopt;
  };
  EXPECT_EQ(returned(ReturnValues::none), std::nullopt);
  EXPECT_EQ(returned(ReturnValues::all_old), (Item{{"pk", "a"}, {"x", 2}, {"y", "same"}}));
  EXPECT_EQ(returned(ReturnValues::updated_old), (Item{{"x", 3}}));
  EXPECT_EQ(returned(ReturnValues::all_new), (Item{{"pk", "a"}, {"x", 5}, {"y", "same"}}));
  EXPECT_EQ(returned(ReturnValues::updated_new), (Item{{"x", 6}}));
}

TEST_P(ItemStoreTest, MakesAnItemByUpdatingIt) {
  store::UpdateItemRequest request;
  request.table_name = "things";
  request.key = {{"pk", "bare"}};
  ASSERT_EQ(refusal_of(store().update_item(request)), "");
  EXPECT_EQ(stored("bare"), (Item{{"pk", "bare"}}));
}

TEST_P(ItemStoreTest, DeletesOnlyWhereTheConditionHolds) {
  ASSERT_TRUE(store().put_item(put("things", {{"pk", "a"}, {"x", 1}})));
  store::DeleteItemRequest request = remove("things", {{"pk", "a"}});
  request.condition = "x = :two";
  request.placeholders.values = item::Map{{":two", 2}};
  EXPECT_EQ(refusal_of(store().delete_item(request)),
            "ConditionalCheckFailedException: The conditional request failed");
  request.placeholders.values = item::Map{{":two", 1}};
  request.return_values = ReturnValues::all_old;
  EXPECT_EQ(store().delete_item(request)->attributes, (Item{{"pk", "a"}, {"x", 1}}));
  EXPECT_EQ(stored("a"), std::nullopt);
}

TEST_P(ItemStoreTest, RefusesInTheWordsOfDynamoDB) {
  EXPECT_EQ(refusal_of(store().get_item(get("absent", {{"pk", "a"}}))),
            "ResourceNotFoundException: Requested resource not found");
  EXPECT_EQ(refusal_of(store().put_item(put("things", {{"pk", 1}}))),
            "ValidationException: One or more parameter values were invalid: Type mismatch for key pk expected: S "
            "actual: N");
  EXPECT_EQ(refusal_of(store().update_item(update("things", {{"pk", "a"}}, "SET x = :missing"))),
            "ValidationException: Invalid UpdateExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :missing");
}

class ItemWordingTest : public ItemStoreTest {};

TEST_P(ItemWordingTest, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(refusal_of(store().update_item(update("things", {{"pk", "a"}}, "SET x =", {{":v", 1}}))),
            "ValidationException: Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"=\"");
}

ON_STORES_WITH(ItemWordingTest, Ability::wording);

TEST_P(ItemStoreTest, TellsConsumedCapacityToThoseWhoAsk) {
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"text", std::string(1'500, 'x')}});
  EXPECT_EQ(store().put_item(request)->consumed_capacity, std::nullopt);
  request.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  const auto written = store().put_item(request);
  ASSERT_TRUE(written && written->consumed_capacity);
  EXPECT_EQ(written->consumed_capacity->table_name, "things");
  EXPECT_DOUBLE_EQ(written->consumed_capacity->total, 2);
  EXPECT_DOUBLE_EQ(written->consumed_capacity->table, 2);

  store::GetItemRequest read = get("things", {{"pk", "a"}});
  EXPECT_EQ(store().get_item(read)->consumed_capacity, std::nullopt);
  read.consistent_read = false;
  read.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  ASSERT_TRUE(store().get_item(read)->consumed_capacity);
  EXPECT_DOUBLE_EQ(store().get_item(read)->consumed_capacity->total, 0.5);
}

class CollectionSizeTest : public ItemStoreTest {};

TEST_P(CollectionSizeTest, IsTold) {
  create_indexed_table("sorted");
  store::PutItemRequest request = put("sorted", {{"pk", "a"}, {"sk", 1}, {"rank", 7}, {"state", "new"}});
  request.report = {store::ReturnConsumedCapacity::indexes, true};
  const auto written = store().put_item(request);
  ASSERT_EQ(refusal_of(written), "");
  ASSERT_TRUE(written->item_collection_metrics);
  EXPECT_EQ(written->item_collection_metrics->collection_key, (item::Key{{"pk", "a"}}));
  EXPECT_DOUBLE_EQ(written->item_collection_metrics->upper_gigabytes, 1);
  ASSERT_TRUE(written->consumed_capacity);
  EXPECT_DOUBLE_EQ(written->consumed_capacity->total, 3);
  EXPECT_EQ(written->consumed_capacity->global_indexes, (std::map<std::string, double>{{"by-state", 1}}));
  EXPECT_EQ(written->consumed_capacity->local_indexes, (std::map<std::string, double>{{"by-rank", 1}}));
}

ON_STORES_WITH(CollectionSizeTest, Ability::collection_sizes);

TEST_P(ItemStoreTest, TellsWhatCameOfAWriteLater) {
  std::promise<store::Answer<store::WriteItemResponse>> promise;
  store().put_item(put("things", {{"pk", "later"}}), [&](auto answer) { promise.set_value(std::move(answer)); });
  EXPECT_EQ(refusal_of(promise.get_future().get()), "");
  EXPECT_EQ(stored("later"), (Item{{"pk", "later"}}));

  std::promise<store::Answer<store::WriteItemResponse>> updated;
  store().update_item(update("things", {{"pk", "later"}}, "SET x = :x", {{":x", 1}}),
                      [&](auto answer) { updated.set_value(std::move(answer)); });
  EXPECT_EQ(refusal_of(updated.get_future().get()), "");
  EXPECT_EQ(stored("later"), (Item{{"pk", "later"}, {"x", 1}}));

  store::DeleteItemRequest conditional = remove("things", {{"pk", "later"}});
  conditional.condition = "attribute_not_exists(x)";
  std::promise<store::Answer<store::WriteItemResponse>> refused;
  store().delete_item(conditional, [&](auto answer) { refused.set_value(std::move(answer)); });
  EXPECT_EQ(refused.get_future().get().error().type, ErrorType::conditional_check_failed);
}

ON_EVERY_STORE(ItemStoreTest);

}  // namespace
}  // namespace postino::remote
