#include "remote/own_success.h"

#include <gtest/gtest.h>

namespace postino::remote {
namespace {

using item::Item;
using store::ReturnValues;

store::Error refusal_with(std::optional<Item> item) {
  store::Error error(store::ErrorType::conditional_check_failed, "The conditional request failed");
  if (item) error.details = std::make_shared<store::ErrorDetails>(store::ErrorDetails{std::move(item), {}, {}});
  return error;
}

store::UpdateItemRequest update_of(const std::string& expression, item::Map values,
                                   ReturnValues returned = ReturnValues::none) {
  store::UpdateItemRequest request;
  request.table_name = "mails";
  request.key = {{"pk", "a"}};
  request.update = expression;
  request.placeholders.values = std::move(values);
  request.return_values = returned;
  return request;
}

TEST(OwnSuccess, IsAPutWhoseItemIsThere) {
  store::PutItemRequest request;
  request.item = {{"pk", "a"}, {"owner", "me"}};
  EXPECT_TRUE(own_success(request, refusal_with(Item{{"pk", "a"}, {"owner", "me"}})));
  EXPECT_FALSE(own_success(request, refusal_with(Item{{"pk", "a"}, {"owner", "another"}})));
  EXPECT_FALSE(own_success(request, refusal_with(std::nullopt)));
}

TEST(OwnSuccess, IsADeleteWhoseItemIsGone) {
  EXPECT_TRUE(own_success(store::DeleteItemRequest(), refusal_with(std::nullopt)));
  EXPECT_FALSE(own_success(store::DeleteItemRequest(), refusal_with(Item{{"pk", "a"}})));
}

TEST(OwnSuccess, IsAnUpdateThatWouldChangeNothing) {
  const auto request = update_of("SET stage = :sent REMOVE lease", {{":sent", "sent"}});
  EXPECT_TRUE(own_success(request, refusal_with(Item{{"pk", "a"}, {"stage", "sent"}, {"more", 1}})));
  EXPECT_FALSE(own_success(request, refusal_with(Item{{"pk", "a"}, {"stage", "sent"}, {"lease", 1}})));
  EXPECT_FALSE(own_success(request, refusal_with(Item{{"pk", "a"}, {"stage", "new"}})));
  EXPECT_FALSE(own_success(request, refusal_with(std::nullopt)));
}

TEST(OwnSuccess, ReturnsWhatIsThereNow) {
  const Item after{{"pk", "a"}, {"stage", "sent"}, {"more", 1}};
  const item::Map values{{":sent", "sent"}};
  EXPECT_EQ(own_success(update_of("SET stage = :sent", values, ReturnValues::all_new), refusal_with(after))->attributes,
            after);
  EXPECT_EQ(
      own_success(update_of("SET stage = :sent", values, ReturnValues::updated_new), refusal_with(after))->attributes,
      (Item{{"stage", "sent"}}));
  EXPECT_EQ(own_success(update_of("SET stage = :sent", values), refusal_with(after))->attributes, std::nullopt);
}

// Nothing was added by either, but who knows.
TEST(OwnSuccess, IsNeverAnUpdateThatCounts) {
  EXPECT_FALSE(own_success(update_of("ADD hits :none", {{":none", 0}}), refusal_with(Item{{"pk", "a"}, {"hits", 7}})));
}

TEST(RepeatableWrite, LeavesTheSameAndTellsTheSame) {
  store::PutItemRequest put;
  EXPECT_TRUE(is_repeatable(put));
  put.return_values = ReturnValues::all_old;
  EXPECT_FALSE(is_repeatable(put)) << "the second would return what the first has put";
  store::DeleteItemRequest remove;
  EXPECT_TRUE(is_repeatable(remove));
  remove.return_values = ReturnValues::all_old;
  EXPECT_FALSE(is_repeatable(remove));
  const item::Map values{{":v", 1}};
  EXPECT_TRUE(is_repeatable(update_of("SET x = :v", values)));
  EXPECT_TRUE(is_repeatable(update_of("SET x = :v", values, ReturnValues::all_new)));
  EXPECT_FALSE(is_repeatable(update_of("SET x = :v", values, ReturnValues::updated_old)));
  EXPECT_FALSE(is_repeatable(update_of("ADD x :v", values)));
  EXPECT_FALSE(is_repeatable(update_of("SET nonsense", values)));
  EXPECT_TRUE(is_repeatable(store::UpdateItemRequest())) << "it makes an item of its key";
}

}  // namespace
}  // namespace postino::remote
