// Large items on a store that several processes share.
#include "large_item_environment.h"
#include "store/retry.h"
#include "store/shared_store_testing.h"

namespace postino::objects {
namespace {

using testing::SizeIs;

class SharedLargeItemsTest : public testing::Test {
 protected:
  LargeItemEnvironment environment_;
  store::SharedStore shared_{environment_.engine()};
  LargeItemStore large_ = environment_.make_large(shared_);
  const store::Retry retry_ = environment_.retry();
};

TEST_F(SharedLargeItemsTest, ThePassedOnStoreIsSharedToo) {
  EXPECT_TRUE(large_.is_shared());
  EXPECT_FALSE(environment_.large().is_shared());
}

TEST_F(SharedLargeItemsTest, AnObjectStaysWhoseItemWasWrittenBeforeTheAnswerWasLost) {
  store::PutItemRequest put = put_of(large_ticket("1", 1));
  put.condition = "attribute_not_exists(PK)";
  shared_.lose_answers(1);
  const auto answer = retry_([&] { return large_.put_item(put); });
  // The second attempt finds the item of the first, and takes away its own object alone.
  EXPECT_EQ(fault_of(answer).substr(0, 22), "ConditionalCheckFailed");
  EXPECT_EQ(environment_.get(ticket_key("1")), large_ticket("1", 1));
  EXPECT_EQ(environment_.kept(), environment_.referred());
}

TEST_F(SharedLargeItemsTest, ATransactionIsDoneOnceWithItsObjects) {
  store::TransactWriteItemsRequest transaction;
  transaction.actions.emplace_back(
      store::TransactPut{tickets_table, large_ticket("1", 1), "attribute_not_exists(PK)", {}, false});
  store::TransactUpdate count;
  count.table_name = tickets_table;
  count.key = ticket_key("count");
  count.update = "ADD made :one";
  count.placeholders.values = item::Map{{":one", 1}};
  transaction.actions.emplace_back(count);
  shared_.lose_answers(2);
  EXPECT_TRUE(succeeded(retry_.transact(large_, transaction)));
  EXPECT_EQ(environment_.get(ticket_key("1")), large_ticket("1", 1));
  EXPECT_EQ(environment_.kept(), environment_.referred());
  EXPECT_EQ(*environment_.raw(ticket_key("count"))->find("made"), item::AttributeValue(1));
}

// An update of an item whose attributes have moved is tried with other guards: another request, with another token.
TEST_F(SharedLargeItemsTest, AGuardedUpdateIsDoneOnce) {
  ASSERT_TRUE(succeeded(large_.put_item(put_of(large_ticket("1", 1)))));
  store::TransactUpdate count;
  count.table_name = tickets_table;
  count.key = ticket_key("1");
  count.update = "ADD made :one";
  count.placeholders.values = item::Map{{":one", 1}};
  store::TransactWriteItemsRequest transaction;
  transaction.actions.emplace_back(count);
  int made = 0;
  for (const int answered_before : {0, 1}) {  // the one without the guard, and the one with it
    shared_.lose_answers(1, "", answered_before);
    EXPECT_TRUE(succeeded(retry_.transact(large_, transaction))) << answered_before;
    EXPECT_EQ(shared_.answers_to_lose(), 0);
    EXPECT_EQ(*environment_.raw(ticket_key("1"))->find("made"), item::AttributeValue(++made));
  }
  const std::vector<std::string> tokens = shared_.tokens();
  for (const std::string& token : tokens) EXPECT_LE(token.size(), store::max_client_request_token_length);
  ASSERT_THAT(tokens, SizeIs(7));
  EXPECT_EQ(tokens[0], tokens[1]) << "the same request";
  EXPECT_NE(tokens[1], tokens[2]) << "without and with the guard";
  EXPECT_EQ(tokens[4], tokens[6]);
}

}  // namespace
}  // namespace postino::objects
