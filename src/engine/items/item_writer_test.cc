#include "engine/items/item_writer.h"

#include <future>

#include "engine/engine_testing.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

using store::ReturnValues;

class ItemWriterTest : public EngineTest {
 protected:
  ItemWriterTest() {
    store::CreateTableRequest request = table("things", "pk:S", "sk:N");
    add_global_index(request, "by-color", "color:S", "weight:N", store::ProjectionType::include, {"name"});
    create(request);
    create(table("simple", "id:S"));
  }

  store::PutItemRequest put_request(std::string_view item) { return {.table_name = "things", .item = json(item)}; }
  store::UpdateItemRequest update_request(std::string_view update, std::string_view values = {}) {
    store::UpdateItemRequest request;
    request.table_name = "things";
    request.key = json(R"({"pk":{"S":"a"},"sk":{"N":"1"}})");
    if (!update.empty()) request.update = std::string(update);
    request.placeholders = placeholders({}, values);
    return request;
  }
  std::string a1() { return get("things", R"({"pk":{"S":"a"},"sk":{"N":"1"}})"); }
};

std::string attributes(const store::Answer<store::WriteItemResponse>& answer) {
  if (!answer) return outcome(answer);
  return answer->attributes ? item::to_json(*answer->attributes) : "none";
}

TEST_F(ItemWriterTest, PutStoresAndReplaces) {
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"old"},"y":{"BOOL":true}})");
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1.0"},"x":{"S":"new"}})");
  EXPECT_EQ(a1(), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"new"}})");
  EXPECT_EQ(store().describe_table("things")->item_count, 1);
}

TEST_F(ItemWriterTest, PutReturnsTheOldItemOnRequest) {
  store::PutItemRequest request = put_request(R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})");
  request.return_values = ReturnValues::all_old;
  EXPECT_EQ(attributes(store().put_item(request)), "none");
  EXPECT_EQ(attributes(store().put_item(request)), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})");
  request.return_values = ReturnValues::all_new;
  EXPECT_EQ(outcome(store().put_item(request)), "ValidationException: ReturnValues can only be ALL_OLD or NONE");
}

TEST_F(ItemWriterTest, AFailedConditionChangesNothing) {
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"1"}})");
  store::PutItemRequest request = put_request(R"({"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"2"}})");
  request.condition = "attribute_not_exists(pk)";
  const auto refused = store().put_item(request);
  EXPECT_EQ(outcome(refused), "ConditionalCheckFailedException: The conditional request failed");
  EXPECT_EQ(refused.error().details, nullptr);
  EXPECT_EQ(a1(), R"({"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"1"}})");

  request.return_item_on_failure = true;
  const auto shown = store().put_item(request);
  ASSERT_NE(shown.error().details, nullptr);
  EXPECT_EQ(item::to_json(*shown.error().details->item), R"({"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"1"}})");
}

struct BadItem {
  const char* item;
  const char* message;
};
class BadItemTest : public ItemWriterTest, public testing::WithParamInterface<BadItem> {};

TEST_P(BadItemTest, IsRefusedWithItsRule) {
  EXPECT_EQ(outcome(store().put_item(put_request(GetParam().item))),
            std::string("ValidationException: ") + GetParam().message);
  EXPECT_EQ(store().describe_table("things")->item_count, 0);
}

const std::string large_key(2049, 'k');
const std::string item_with_large_hash = R"({"pk":{"S":")" + large_key + R"("},"sk":{"N":"1"}})";
const std::string item_with_large_index_range =
    R"({"pk":{"S":"a"},"sk":{"N":"1"},"color":{"S":")" + large_key + R"("}})";

INSTANTIATE_TEST_SUITE_P(
    Rules, BadItemTest,
    testing::Values(
        BadItem{R"({"pk":{"S":"a"}})", "One or more parameter values were invalid: Missing the key sk in the item"},
        BadItem{R"({"pk":{"N":"1"},"sk":{"N":"1"}})",
                "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"},
        BadItem{R"({"pk":{"S":""},"sk":{"N":"1"}})",
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: pk"},
        BadItem{item_with_large_hash.c_str(),
                "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
                "of2048 bytes"},
        BadItem{R"({"pk":{"S":"a"},"sk":{"N":"1"},"color":{"N":"1"}})",
                "One or more parameter values were invalid: Type mismatch for Index Key color Expected: S Actual: N "
                "IndexName: by-color"},
        BadItem{R"({"pk":{"S":"a"},"sk":{"N":"1"},"color":{"S":""}})",
                "One or more parameter values are not valid. A value specified for a secondary index key is not "
                "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: "
                "by-color, IndexKey: color"},
        BadItem{item_with_large_index_range.c_str(),
                "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
                "of2048 bytes"},
        BadItem{R"({"pk":{"S":"a"},"sk":{"N":"1"},"":{"S":"x"}})", "Empty attribute name"}));

TEST_F(ItemWriterTest, AnItemMayHave400KilobytesAndNoByteMore) {
  // The name "id" and its value take 3 bytes, the name "x" one.
  const std::string fits(409'600 - 3 - 1, 'x');
  EXPECT_EQ(outcome(store().put_item({.table_name = "simple", .item = {{"id", "a"}, {"x", fits}}})), "ok");
  EXPECT_EQ(outcome(store().put_item({.table_name = "simple", .item = {{"id", "a"}, {"x", fits + "x"}}})),
            "ValidationException: Item size has exceeded the maximum allowed size");
}

TEST_F(ItemWriterTest, UpdateCreatesTheItemWhenThereIsNone) {
  EXPECT_EQ(outcome(store().update_item(update_request("SET x = :x", R"({":x":{"S":"1"}})"))), "ok");
  EXPECT_EQ(a1(), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})");
}

TEST_F(ItemWriterTest, UpdateWithoutAnExpressionCreatesTheKeyAlone) {
  EXPECT_EQ(outcome(store().update_item(update_request(""))), "ok");
  EXPECT_EQ(a1(), R"({"pk":{"S":"a"},"sk":{"N":"1"}})");
}

TEST_F(ItemWriterTest, RemovingFromNothingCreatesNothing) {
  EXPECT_EQ(outcome(store().update_item(update_request("REMOVE x.y"))), "ok");
  EXPECT_EQ(a1(), "");
}

TEST_F(ItemWriterTest, UpdateReturnsWhatWasAskedFor) {
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"N":"1"},"y":{"S":"y"}})");
  const auto returned = [&](ReturnValues values) {
    store::UpdateItemRequest request = update_request("SET x = x + :one", R"({":one":{"N":"1"}})");
    request.return_values = values;
    return attributes(store().update_item(request));
  };
  EXPECT_EQ(returned(ReturnValues::none), "none");
  EXPECT_EQ(returned(ReturnValues::all_old), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"N":"2"},"y":{"S":"y"}})");
  EXPECT_EQ(returned(ReturnValues::all_new), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"N":"4"},"y":{"S":"y"}})");
  EXPECT_EQ(returned(ReturnValues::updated_old), R"({"x":{"N":"4"}})");
  EXPECT_EQ(returned(ReturnValues::updated_new), R"({"x":{"N":"6"}})");
}

struct BadUpdate {
  const char* update;
  const char* values;
  const char* message;
};
class BadUpdateTest : public ItemWriterTest, public testing::WithParamInterface<BadUpdate> {};

TEST_P(BadUpdateTest, IsRefusedAndChangesNothing) {
  constexpr auto before = R"({"n":{"N":"1"},"pk":{"S":"a"},"sk":{"N":"1"}})";
  put("things", before);
  EXPECT_EQ(outcome(store().update_item(update_request(GetParam().update, GetParam().values))),
            std::string("ValidationException: ") + GetParam().message);
  EXPECT_EQ(a1(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadUpdateTest,
    testing::Values(
        BadUpdate{"SET pk = :x", R"({":x":{"S":"b"}})",
                  "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of "
                  "the key"},
        BadUpdate{"SET pk.z = :x", R"({":x":{"S":"b"}})",
                  "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: "
                  "pk"},
        BadUpdate{"SET color[0] = :x", R"({":x":{"S":"b"}})",
                  "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
                  "IndexKey: color"},
        BadUpdate{"SET color = :x", R"({":x":{"N":"1"}})",
                  "One or more parameter values were invalid: Type mismatch for Index Key color Expected: S Actual: N "
                  "IndexName: by-color"},
        BadUpdate{"SET color = n", "",
                  "The update expression attempted to update the secondary index key to unsupported type"},
        BadUpdate{"SET color = :x", R"({":x":{"S":""}})",
                  "One or more parameter values are not valid. The update expression attempted to update a secondary "
                  "index key to a value that is not supported. The AttributeValue for a key attribute cannot contain "
                  "an empty string value."},
        BadUpdate{"SET z = unknown_one", "",
                  "The provided expression refers to an attribute that does not exist in the item"},
        BadUpdate{"SET n.m = :x", R"({":x":{"N":"1"}})",
                  "The document path provided in the update expression is invalid for update"}));

TEST_F(ItemWriterTest, AnItemFromBeforeAnIndexMayHaveOtherTypesAndStaysOutOfIt) {
  put("simple", R"({"id":{"S":"a"},"x":{"L":[]}})");
  store::UpdateTableRequest add;
  add.table_name = "simple";
  add.attribute_definitions = {{"y", item::Type::string}, {"x", item::Type::number}};
  store::GlobalIndexDefinition index;
  index.name = "by-y";
  index.key_schema = {{"y", store::KeyRole::hash}, {"x", store::KeyRole::range}};
  index.projection.type = store::ProjectionType::all;
  add.global_index_updates = {store::CreateGlobalIndex{index}};
  ASSERT_EQ(outcome(store().update_table(add)), "ok");
  while (*engine().run_maintenance_once()) {
  }
  store::UpdateItemRequest request;
  request.table_name = "simple";
  request.key = {{"id", "a"}};
  request.update = "SET y = :y";
  request.placeholders = placeholders({}, R"({":y":{"S":"1"}})");
  EXPECT_EQ(outcome(store().update_item(request)), "ok");
  EXPECT_EQ(store().describe_table("simple")->global_indexes[0].item_count, 0);
}

TEST_F(ItemWriterTest, AnUpdateMayNotGrowTheItemBeyondItsLimit) {
  const std::string half(250'000, 'x');
  ASSERT_TRUE(store().put_item({.table_name = "simple", .item = {{"id", "a"}, {"x", half}}}));
  store::UpdateItemRequest request;
  request.table_name = "simple";
  request.key = {{"id", "a"}};
  request.update = "SET y = :y";
  request.placeholders.values = item::Map{{":y", half}};
  EXPECT_EQ(outcome(store().update_item(request)),
            "ValidationException: Item size to update has exceeded the maximum allowed size");
}

TEST_F(ItemWriterTest, DeleteRemovesAndIsRepeatable) {
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})");
  store::DeleteItemRequest request;
  request.table_name = "things";
  request.key = json(R"({"pk":{"S":"a"},"sk":{"N":"1"}})");
  request.return_values = ReturnValues::all_old;
  EXPECT_EQ(attributes(store().delete_item(request)), R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})");
  EXPECT_EQ(attributes(store().delete_item(request)), "none");
  EXPECT_EQ(store().describe_table("things")->item_count, 0);
  EXPECT_EQ(store().describe_table("things")->size_bytes, 0);
}

TEST_F(ItemWriterTest, AKeyMustFitTheSchema) {
  for (const char* key : {R"({"pk":{"S":"a"}})", R"({"pk":{"S":"a"},"sk":{"S":"1"}})",
                          R"({"pk":{"S":"a"},"sk":{"N":"1"},"x":{"S":"1"}})", R"({})"})
    EXPECT_EQ(outcome(store().delete_item({.table_name = "things", .key = json(key)})),
              "ValidationException: The provided key element does not match the schema")
        << key;
}

TEST_F(ItemWriterTest, ATableThatIsNotThereIsNotFound) {
  EXPECT_EQ(outcome(store().put_item({.table_name = "none", .item = {{"id", "a"}}})),
            "ResourceNotFoundException: Requested resource not found");
}

TEST_F(ItemWriterTest, PlaceholdersAreCheckedBeforeTheTableIsLookedUp) {
  store::PutItemRequest request;
  request.table_name = "none";
  request.item = {{"id", "a"}};
  request.placeholders = placeholders({}, R"({":x":{"S":"1"}})");
  EXPECT_EQ(outcome(store().put_item(request)),
            "ValidationException: ExpressionAttributeValues can only be specified when using expressions: "
            "ConditionExpression is null");
}

TEST_F(ItemWriterTest, EveryWriteCanBeToldWhenItIsDone) {
  std::promise<std::string> told;
  store().put_item(put_request(R"({"pk":{"S":"a"},"sk":{"N":"1"}})"),
                   [&](const store::Answer<store::WriteItemResponse>& answer) { told.set_value(outcome(answer)); });
  EXPECT_EQ(told.get_future().get(), "ok");
  EXPECT_EQ(a1(), R"({"pk":{"S":"a"},"sk":{"N":"1"}})");
}

TEST_F(ItemWriterTest, WritesAreThereAfterReopening) {
  put("things", R"({"pk":{"S":"a"},"sk":{"N":"1"},"color":{"S":"red"},"weight":{"N":"3"}})");
  reopen();
  EXPECT_EQ(a1(), R"({"color":{"S":"red"},"pk":{"S":"a"},"sk":{"N":"1"},"weight":{"N":"3"}})");
  EXPECT_EQ(store().describe_table("things")->item_count, 1);
  EXPECT_EQ(store().describe_table("things")->global_indexes[0].item_count, 1);
}

TEST_F(ItemWriterTest, CapacityCountsTheLargerItemAndEachIndex) {
  store::PutItemRequest request =
      put_request(R"({"pk":{"S":"a"},"sk":{"N":"1"},"color":{"S":"red"},"weight":{"N":"3"}})");
  request.item.set("large", std::string(3000, 'x'));
  request.report.consumed_capacity = store::ReturnConsumedCapacity::indexes;
  const auto inserted = store().put_item(request)->consumed_capacity;
  EXPECT_EQ(inserted->table, 3);
  EXPECT_EQ(inserted->global_indexes.at("by-color"), 1);
  EXPECT_EQ(inserted->total, 4);

  const auto repeated = store().put_item(request)->consumed_capacity;
  EXPECT_EQ(repeated->table, 3);
  EXPECT_TRUE(repeated->global_indexes.empty());

  request.item.set("color", "blue");
  const auto moved = store().put_item(request)->consumed_capacity;
  EXPECT_EQ(moved->global_indexes.at("by-color"), 2);

  request.item.erase("large");
  EXPECT_EQ(store().put_item(request)->consumed_capacity->total, 3) << "the old item is the larger one";
}

TEST_F(ItemWriterTest, CollectionsHaveASizeWhereThereAreLocalIndexes) {
  store::CreateTableRequest with_local = table("local", "pk:S", "sk:S");
  add_local_index(with_local, "by-x", "x:S");
  create(with_local);
  store::PutItemRequest request;
  request.table_name = "local";
  request.item = json(R"({"pk":{"S":"a"},"sk":{"S":"b"}})");
  request.report.item_collection_metrics = true;
  const auto metrics = store().put_item(request)->item_collection_metrics;
  ASSERT_TRUE(metrics);
  EXPECT_EQ(item::to_json(metrics->collection_key), R"({"pk":{"S":"a"}})");
  EXPECT_EQ(metrics->lower_gigabytes, 0);
  EXPECT_EQ(metrics->upper_gigabytes, 1);
  request.table_name = "things";
  request.item = json(R"({"pk":{"S":"a"},"sk":{"N":"1"}})");
  EXPECT_FALSE(store().put_item(request)->item_collection_metrics);
}

}  // namespace
}  // namespace postino::engine
