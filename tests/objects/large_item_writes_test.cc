#include "base/check.h"
#include "large_item_environment.h"

namespace postino::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LargeItemWritesTest : public testing::Test {
 protected:
  void put(item::Item item) { ASSERT_TRUE(succeeded(store_.large().put_item(put_of(std::move(item))))); }

  LargeItemEnvironment store_;
};

TEST_F(LargeItemWritesTest, ARefusedWriteLeavesNoObject) {
  put(large_ticket("1", 1));
  const auto before = store_.kept();
  store::PutItemRequest request = put_of(large_ticket("1", 2));
  request.condition = "attribute_not_exists(PK)";
  EXPECT_THAT(fault_of(store_.large().put_item(request)), HasSubstr("ConditionalCheckFailed"));
  EXPECT_EQ(store_.kept(), before);
  store::TransactWriteItemsRequest transaction;
  transaction.actions.emplace_back(store::TransactPut{tickets_table, large_ticket("2", 1), {}, {}, false});
  transaction.actions.emplace_back(
      store::TransactPut{tickets_table, large_ticket("1", 2), "attribute_not_exists(PK)", {}, false});
  EXPECT_THAT(fault_of(store_.large().transact_write_items(transaction)), HasSubstr("TransactionCanceled"));
  EXPECT_EQ(store_.kept(), before);
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
}

TEST_F(LargeItemWritesTest, WithoutTheObjectNothingIsWritten) {
  store_.objects().set_outage(true);
  EXPECT_THAT(fault_of(store_.large().put_item(put_of(large_ticket("1", 1)))), HasSubstr("ServiceUnavailable"));
  EXPECT_TRUE(succeeded(store_.large().put_item(put_of(small_ticket("2", 1))))) << "small ones need none";
  store_.objects().set_outage(false);
  EXPECT_EQ(store_.raw(ticket_key("1")), std::nullopt);
  store_.objects().fail_at(1, MemoryObjects::Fault::unknown);
  EXPECT_THAT(fault_of(store_.large().put_item(put_of(large_ticket("1", 1)))), HasSubstr("ServiceUnavailable"));
  EXPECT_THAT(store_.kept(), IsEmpty()) << "it was there all the same, and is removed";
}

TEST_F(LargeItemWritesTest, TransactionsAndBatchesMoveTheirItems) {
  store::TransactWriteItemsRequest transaction;
  for (const char* id : {"1", "2", "3"})
    transaction.actions.emplace_back(store::TransactPut{tickets_table, large_ticket(id, 1), {}, {}, false});
  EXPECT_TRUE(succeeded(store_.large().transact_write_items(transaction)));
  store::BatchWriteItemRequest batch;
  batch.tables.push_back({tickets_table,
                          {store::BatchPut{large_ticket("4", 1)}, store::BatchPut{small_ticket("5", 1)},
                           store::BatchDelete{ticket_key("1")}}});
  EXPECT_TRUE(succeeded(store_.large().batch_write_item(batch)));
  for (const char* id : {"2", "3", "4"}) EXPECT_EQ(store_.get(ticket_key(id)), large_ticket(id, 1));
  EXPECT_EQ(store_.get(ticket_key("5")), small_ticket("5", 1));
  EXPECT_EQ(store_.get(ticket_key("1")), std::nullopt);
}

TEST_F(LargeItemWritesTest, ARepeatedTransactionIsTheSameOne) {
  store::TransactWriteItemsRequest transaction;
  transaction.client_request_token = "token-1";
  transaction.actions.emplace_back(store::TransactPut{tickets_table, large_ticket("1", 1), {}, {}, false});
  EXPECT_TRUE(succeeded(store_.large().transact_write_items(transaction)));
  EXPECT_TRUE(succeeded(store_.large().transact_write_items(transaction)));
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
  EXPECT_EQ(store_.kept(), store_.referred());
  // One that is refused has the object of the one before: it must stay.
  transaction.actions.emplace_back(
      store::TransactPut{tickets_table, small_ticket("2", 1), "attribute_exists(PK)", {}, false});
  transaction.client_request_token = "token-2";
  EXPECT_FALSE(store_.large().transact_write_items(transaction));
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
}

TEST_F(LargeItemWritesTest, UnprocessedItemsComeBackAsTheyWere) {
  class HalfStore final : public store::ForwardingStore {
   public:
    using ForwardingStore::batch_write_item;
    using ForwardingStore::ForwardingStore;
    store::Answer<store::BatchWriteItemResponse> batch_write_item(
        const store::BatchWriteItemRequest& request) override {
      store::BatchWriteItemRequest first = request;
      store::BatchWriteItemResponse response;
      response.unprocessed = {{request.tables[0].table_name, {first.tables[0].writes.back()}}};
      first.tables[0].writes.pop_back();
      CHECK(inner().batch_write_item(first).has_value());
      return response;
    }
  } half(store_.engine());
  LargeItemStore large = store_.make_large(half);
  store::BatchWriteItemRequest batch;
  batch.tables.push_back(
      {tickets_table, {store::BatchPut{large_ticket("1", 1)}, store::BatchPut{large_ticket("2", 1)}}});
  const auto written = large.batch_write_item(batch);
  ASSERT_TRUE(succeeded(written));
  ASSERT_THAT(written->unprocessed, SizeIs(1));
  EXPECT_EQ(std::get<store::BatchPut>(written->unprocessed[0].writes.at(0)).item, large_ticket("2", 1));
  EXPECT_EQ(store_.kept(), store_.referred());
  EXPECT_TRUE(succeeded(store_.large().batch_write_item({written->unprocessed, {}})));
  EXPECT_EQ(store_.get(ticket_key("2")), large_ticket("2", 1));
}

TEST_F(LargeItemWritesTest, UpdatesLeaveMovedAttributesAlone) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 1));
  for (const std::string id : {"1", "2"}) {
    auto request = update_of(ticket_key(id), "SET #s = :s ADD version :one", {{":s", "READY"}, {":one", 1}});
    request.placeholders.names = expr::Names{{"#s", "status"}};
    EXPECT_TRUE(succeeded(store_.large().update_item(request)));
    const item::Item item = store_.get(ticket_key(id)).value();
    EXPECT_EQ(item.find("status")->as<std::string>(), "READY");
    EXPECT_EQ(item.find("version")->as<item::Number>(), item::Number(2));
    EXPECT_EQ(*item.find("protocol"), *(id == "1" ? large_ticket("1", 1) : small_ticket("2", 1)).find("protocol"));
  }
  for (const std::string update : {"SET protocol = :x", "SET details.version = :x", "REMOVE protocol, version"}) {
    auto request =
        update_of(ticket_key("1"), update, update.find(":x") != std::string::npos ? item::Map{{":x", 1}} : item::Map{});
    EXPECT_THAT(fault_of(store_.large().update_item(request)), HasSubstr("must not be updated")) << update;
    request.key = ticket_key("2");
    EXPECT_TRUE(succeeded(store_.large().update_item(request))) << update;
  }
  EXPECT_EQ(*store_.get(ticket_key("1"))->find("protocol"), *large_ticket("1", 1).find("protocol"));
  EXPECT_TRUE(succeeded(store_.large().update_item(update_of(ticket_key("9"), "SET protocol = :x", {{":x", 1}}))))
      << "an update may make an item";
}

TEST_F(LargeItemWritesTest, AConditionThatFailsIsTold) {
  put(large_ticket("1", 1));
  for (const bool wants_item : {false, true}) {
    auto request = update_of(ticket_key("1"), "SET note = :x", {{":x", 1}, {":v", 7}});
    request.condition = "version = :v OR version = :v";
    request.return_item_on_failure = wants_item;
    const auto answer = store_.large().update_item(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().type, store::ErrorType::conditional_check_failed);
    EXPECT_EQ(answer.error().details != nullptr && answer.error().details->item.has_value(), wants_item);
  }
  auto request = update_of(ticket_key("1"), "SET note = :x", {{":x", 1}, {":v", 1}});
  request.condition = "version = :v OR attribute_not_exists(version)";
  request.return_values = store::ReturnValues::all_new;
  const auto answer = store_.large().update_item(request);
  ASSERT_TRUE(succeeded(answer));
  item::Item whole = large_ticket("1", 1);
  whole.set("note", 1);
  EXPECT_EQ(answer->attributes, whole);
}

TEST_F(LargeItemWritesTest, UpdatesInTransactionsLeaveMovedAttributesAlone) {
  put(large_ticket("1", 1));
  put(small_ticket("2", 1));
  const auto transaction = [&](const std::string& update, const std::string& condition = "attribute_exists(PK)") {
    store::TransactWriteItemsRequest request;
    for (const char* id : {"1", "2"}) {
      store::TransactUpdate action;
      action.table_name = tickets_table;
      action.key = ticket_key(id);
      action.update = update;
      action.condition = condition;
      action.placeholders.values = item::Map{{":x", 5}};
      request.actions.emplace_back(action);
    }
    request.actions.emplace_back(store::TransactPut{tickets_table, large_ticket("3", 1), {}, {}, false});
    return request;
  };
  EXPECT_TRUE(succeeded(store_.large().transact_write_items(transaction("SET version = :x"))));
  EXPECT_EQ(store_.get(ticket_key("1"))->find("version")->as<item::Number>(), item::Number(5));
  EXPECT_EQ(*store_.get(ticket_key("1"))->find("protocol"), *large_ticket("1", 1).find("protocol"));
  EXPECT_EQ(store_.get(ticket_key("3")), large_ticket("3", 1));
  EXPECT_THAT(fault_of(store_.large().transact_write_items(transaction("SET protocol = :x"))),
              HasSubstr("must not be updated"));
  const auto refused = store_.large().transact_write_items(transaction("SET note = :x", "version < :x"));
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().type, store::ErrorType::transaction_canceled);
  for (int i : {0, 1}) {
    EXPECT_EQ(refused.error().details->reasons.at(static_cast<std::size_t>(i)).code, "ConditionalCheckFailed");
    EXPECT_EQ(refused.error().details->reasons.at(static_cast<std::size_t>(i)).item, std::nullopt);
  }
  EXPECT_EQ(store_.kept(), store_.referred());
}

TEST_F(LargeItemWritesTest, OwnAttributesAndLimitsAreKept) {
  for (const std::string& name : large_data_attributes()) {
    item::Item item = small_ticket("1", 1);
    item.set(name, "x");
    EXPECT_THAT(fault_of(store_.large().put_item(put_of(item))),
                HasSubstr("the attribute " + name + " must not be set"));
    EXPECT_THAT(fault_of(store_.large().update_item(update_of(ticket_key("1"), "SET " + name + " = :x", {{":x", 1}}))),
                HasSubstr("must not be updated"));
  }
  item::Item huge = small_ticket("1", 1);
  huge.set("protocol", std::string((8 << 20) + 1, 'x'));
  EXPECT_THAT(fault_of(store_.large().put_item(put_of(huge))), HasSubstr("Item size has exceeded"));
  item::Item long_key = large_ticket("1", 1);
  long_key.set("PK", std::string(500, 'k'));
  EXPECT_THAT(fault_of(store_.large().put_item(put_of(long_key))), HasSubstr("Item size has exceeded"));
  store::TransactWriteItemsRequest transaction;
  for (int i = 0; i < 9; ++i) {
    item::Item item = small_ticket(std::to_string(i), 1);
    item.set("protocol", std::string(4 << 20, 'x'));
    transaction.actions.emplace_back(store::TransactPut{tickets_table, std::move(item), {}, {}, false});
  }
  EXPECT_THAT(fault_of(store_.large().transact_write_items(transaction)), HasSubstr("for the object store"));
  EXPECT_THAT(store_.kept(), IsEmpty());
}

TEST_F(LargeItemWritesTest, WhatWasThereBeforeIsTold) {
  put(large_ticket("1", 1));
  store::PutItemRequest request = put_of(large_ticket("1", 2));
  request.return_values = store::ReturnValues::all_old;
  const auto replaced = store_.large().put_item(request);
  ASSERT_TRUE(succeeded(replaced));
  EXPECT_EQ(replaced->attributes, large_ticket("1", 1));
  store::DeleteItemRequest removal;
  removal.table_name = tickets_table;
  removal.key = ticket_key("1");
  removal.return_values = store::ReturnValues::all_old;
  const auto removed = store_.large().delete_item(removal);
  ASSERT_TRUE(succeeded(removed));
  EXPECT_EQ(removed->attributes, large_ticket("1", 2));
}

TEST_F(LargeItemWritesTest, AWriteThatTakesVeryLongPutsItsObjectAgain) {
  class SlowStore final : public store::ForwardingStore {
   public:
    SlowStore(LargeItemEnvironment& environment) : ForwardingStore(environment.engine()), environment_(environment) {}
    using ForwardingStore::put_item;
    store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
      // The process was stopped for days. Its object was taken for one that nothing refers to.
      environment_.time().advance(std::chrono::hours(48));
      ObjectCleaner cleaner = environment_.make_cleaner();
      EXPECT_TRUE(cleaner.sweep_some(100));
      EXPECT_THAT(environment_.kept(), IsEmpty());
      return inner().put_item(request);
    }

   private:
    LargeItemEnvironment& environment_;
  } slow(store_);
  LargeItemStore large = store_.make_large(slow);
  EXPECT_TRUE(succeeded(large.put_item(put_of(large_ticket("1", 1)))));
  EXPECT_EQ(store_.get(ticket_key("1")), large_ticket("1", 1));
}

TEST_F(LargeItemWritesTest, OtherTablesAndCallbacksPassThrough) {
  int answers = 0;
  const auto expect = [&](const auto& answer) {
    EXPECT_TRUE(succeeded(answer));
    ++answers;
  };
  store_.large().put_item(put_of(large_ticket("1", 1)), [&](auto answer) { expect(answer); });
  store_.large().update_item(update_of(ticket_key("1"), "SET note = :x", {{":x", 1}}),
                             [&](auto answer) { expect(answer); });
  store_.large().batch_write_item({{{tickets_table, {store::BatchPut{large_ticket("2", 1)}}}}, {}},
                                  [&](auto answer) { expect(answer); });
  store::TransactWriteItemsRequest transaction;
  transaction.actions.emplace_back(store::TransactPut{tickets_table, large_ticket("3", 1), {}, {}, false});
  store_.large().transact_write_items(transaction, [&](auto answer) { expect(answer); });
  store::DeleteItemRequest removal;
  removal.table_name = tickets_table;
  removal.key = ticket_key("3");
  store_.large().delete_item(removal, [&](auto answer) { expect(answer); });
  EXPECT_EQ(answers, 5);
  EXPECT_EQ(store_.get(ticket_key("2")), large_ticket("2", 1));
  store::PutItemRequest nowhere = put_of(item::Item{{"id", "1"}});
  nowhere.table_name = "other";
  EXPECT_THAT(fault_of(store_.large().put_item(nowhere)), HasSubstr("ResourceNotFound"));
}

}  // namespace
}  // namespace postino::objects
