#include <algorithm>

#include "engine/engine_testing.h"
#include "engine/items/transaction_writer.h"
#include "item/json_codec.h"

namespace postino::engine {
namespace {

class TransactionTest : public EngineTest {
 protected:
  TransactionTest() {
    create(table("accounts", "id:S"));
    create(table("entries", "id:S", "n:N"));
  }

  static store::TransactPut put_a(std::string id, int value) {
    return {.table_name = "accounts", .item = {{"id", std::move(id)}, {"v", value}}};
  }
  static store::TransactUpdate add_a(std::string id, int delta) {
    store::TransactUpdate update;
    update.table_name = "accounts";
    update.key = {{"id", std::move(id)}};
    update.update = "ADD v :d";
    update.placeholders.values = item::Map{{":d", delta}};
    return update;
  }
  static store::TransactConditionCheck check_a(std::string id, std::string condition) {
    store::TransactConditionCheck check;
    check.table_name = "accounts";
    check.key = {{"id", std::move(id)}};
    check.condition = std::move(condition);
    return check;
  }
  std::string value_of(const std::string& id) {
    const auto answer = store().get_item({.table_name = "accounts", .key = {{"id", id}}});
    return answer->item ? answer->item->find("v")->as<item::Number>().to_string() : "none";
  }
  static std::vector<std::string> codes(const store::Error& error) {
    std::vector<std::string> result;
    if (error.details)
      for (const auto& reason : error.details->reasons) result.push_back(reason.code);
    return result;
  }
};

using testing::ElementsAre;

TEST_F(TransactionTest, AllActionsHappenTogether) {
  store::TransactDelete remove{.table_name = "entries", .key = json(R"({"id":{"S":"x"},"n":{"N":"1"}})")};
  put("entries", R"({"id":{"S":"x"},"n":{"N":"1"}})");
  put("accounts", R"({"id":{"S":"u"},"v":{"N":"5"}})");
  const auto done = store().transact_write_items(
      {.actions = {put_a("p", 1), add_a("u", 2), remove, check_a("c", "attribute_not_exists(id)")}});
  EXPECT_EQ(outcome(done), "ok");
  EXPECT_EQ(value_of("p"), "1");
  EXPECT_EQ(value_of("u"), "7");
  EXPECT_EQ(get("entries", R"({"id":{"S":"x"},"n":{"N":"1"}})"), "");
  EXPECT_EQ(value_of("c"), "none");
}

TEST_F(TransactionTest, OneFailedConditionStopsAllAndEachIsReported) {
  put("accounts", R"({"id":{"S":"u"},"v":{"N":"5"}})");
  store::TransactConditionCheck seen = check_a("u", "attribute_not_exists(id)");
  seen.return_item_on_failure = true;
  const auto refused =
      store().transact_write_items({.actions = {put_a("p", 1), check_a("missing", "attribute_exists(id)"), seen}});
  EXPECT_EQ(outcome(refused),
            "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific "
            "reasons [None, ConditionalCheckFailed, ConditionalCheckFailed]");
  const auto& reasons = refused.error().details->reasons;
  EXPECT_EQ(reasons[0].message, "");
  EXPECT_EQ(reasons[1].message, "The conditional request failed");
  EXPECT_FALSE(reasons[1].item);
  EXPECT_EQ(item::to_json(*reasons[2].item), R"({"id":{"S":"u"},"v":{"N":"5"}})");
  EXPECT_EQ(value_of("p"), "none");
}

TEST_F(TransactionTest, BrokenRulesOfTheTableCancelWithTheFirstOne) {
  store::TransactPut no_range{.table_name = "entries", .item = {{"id", "x"}}};
  store::TransactDelete wrong_type{.table_name = "entries", .key = {{"id", "x"}, {"n", "text"}}};
  const auto refused = store().transact_write_items({.actions = {put_a("p", 1), wrong_type, no_range}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(codes(refused.error()), ElementsAre("None", "ValidationError", "None"));
  EXPECT_EQ(refused.error().details->reasons[1].message, "The provided key element does not match the schema");
  EXPECT_EQ(value_of("p"), "none");
}

TEST_F(TransactionTest, AnUpdateThatCannotBeAppliedCancels) {
  put("accounts", R"({"id":{"S":"u"},"v":{"S":"text"}})");
  const auto refused = store().transact_write_items({.actions = {put_a("p", 1), add_a("u", 2)}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(codes(refused.error()), ElementsAre("None", "ValidationError"));
  EXPECT_EQ(refused.error().details->reasons[1].message,
            "An operand in the update expression has an incorrect data type");
}

TEST_F(TransactionTest, FaultsOfTheRequestItselfAreNotCancellations) {
  EXPECT_EQ(outcome(store().transact_write_items({.actions = {put_a("p", 1), add_a("p", 1)}})),
            "ValidationException: Transaction request cannot include multiple operations on one item");
  EXPECT_EQ(outcome(store().transact_write_items({.actions = {put_a("", 1)}})),
            "ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: id");
  EXPECT_EQ(outcome(store().transact_write_items({.actions = {check_a("x", "nonsense(")}})),
            "ValidationException: Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"");
  store::TransactPut nowhere{.table_name = "nowhere", .item = {{"id", "x"}}};
  EXPECT_EQ(outcome(store().transact_write_items({.actions = {nowhere}})),
            "ResourceNotFoundException: Requested resource not found");
  EXPECT_EQ(outcome(store().transact_write_items({})),
            "ValidationException: 1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1");
}

TEST_F(TransactionTest, AHundredActionsAreTheLimit) {
  store::TransactWriteItemsRequest request;
  for (int i = 0; i < 100; ++i) request.actions.push_back(put_a("k" + std::to_string(i), i));
  EXPECT_EQ(outcome(store().transact_write_items(request)), "ok");
  request.actions.push_back(put_a("one more", 1));
  EXPECT_EQ(outcome(store().transact_write_items(request)),
            "ValidationException: 1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            "Member must have length less than or equal to 100");
}

TEST_F(TransactionTest, FourMegabytesAreTheLimit) {
  store::TransactWriteItemsRequest request;
  for (int i = 0; i < 11; ++i) {
    store::TransactPut large = put_a("k" + std::to_string(i), i);
    large.item.set("x", std::string(400'000, 'x'));
    request.actions.push_back(std::move(large));
  }
  const std::string refused = outcome(store().transact_write_items(request));
  EXPECT_THAT(refused, testing::StartsWith("ValidationException: Transaction payload size cannot exceed 4MB. Payload "
                                           "Size: : Transaction payload size cannot exceed 4MB. Payload Size: 44"));
}

TEST_F(TransactionTest, ATokenMakesARepeatHarmlessForTenMinutes) {
  store::TransactWriteItemsRequest request{.actions = {add_a("u", 1)}, .client_request_token = "token"};
  request.report.consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto first = store().transact_write_items(request);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->consumed_capacity[0].total, 2);
  EXPECT_TRUE(first->consumed_capacity[0].transactional_write);

  reopen();
  const auto repeated = store().transact_write_items(request);
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->consumed_capacity[0].total, 2);
  EXPECT_TRUE(repeated->consumed_capacity[0].transactional_read);
  EXPECT_FALSE(repeated->consumed_capacity[0].transactional_write);
  EXPECT_EQ(value_of("u"), "1");

  store::TransactWriteItemsRequest other = request;
  other.actions = {add_a("u", 2)};
  EXPECT_THAT(outcome(store().transact_write_items(other)),
              testing::StartsWith("IdempotentParameterMismatchException: "));

  clock().advance(std::chrono::minutes(10));
  EXPECT_EQ(outcome(store().transact_write_items(other)), "ok");
  EXPECT_EQ(value_of("u"), "3");
}

TEST_F(TransactionTest, AFailedTransactionLeavesItsTokenFree) {
  store::TransactWriteItemsRequest request{.actions = {check_a("u", "attribute_exists(id)")},
                                           .client_request_token = "token"};
  EXPECT_FALSE(store().transact_write_items(request));
  put("accounts", R"({"id":{"S":"u"},"v":{"N":"5"}})");
  EXPECT_EQ(outcome(store().transact_write_items(request)), "ok");
}

TEST_F(TransactionTest, ReadsAnswerInOrderAtOnePoint) {
  put("accounts", R"({"id":{"S":"u"},"v":{"N":"5"},"w":{"N":"6"}})");
  store::TransactGetItemsRequest request;
  request.gets = {{.table_name = "accounts", .key = {{"id", "missing"}}},
                  {.table_name = "accounts", .key = {{"id", "u"}}, .projection = "w"}};
  request.return_consumed_capacity = store::ReturnConsumedCapacity::total;
  const auto read = store().transact_get_items(request);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->items[0]);
  EXPECT_EQ(item::to_json(*read->items[1]), R"({"w":{"N":"6"}})");
  EXPECT_EQ(read->consumed_capacity[0].total, 4);

  request.gets[0] = {.table_name = "accounts", .key = {{"id", 1}}};
  const auto refused = store().transact_get_items(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(codes(refused.error()), ElementsAre("ValidationError", "None"));
  request.gets[0] = request.gets[1];
  EXPECT_EQ(outcome(store().transact_get_items(request)),
            "ValidationException: Transaction request cannot include multiple operations on one item");
}

}  // namespace
}  // namespace postino::engine
