// A table that other programs can read and not change, by any operation of the store.
#include "app/server/read_only_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace postino::app {
namespace {

using engine::json;
using engine::outcome;
using testing::StartsWith;

class ReadOnlyTableTest : public engine::EngineTest {
 protected:
  ReadOnlyTableTest() {
    create(table("audit", "id:S"));
    create(table("open", "id:S"));
    put("audit", R"({"id":{"S":"event"},"who":{"S":"ann"}})");
  }
  ~ReadOnlyTableTest() override {
    EXPECT_EQ(get("audit", R"({"id":{"S":"event"}})"), R"({"id":{"S":"event"},"who":{"S":"ann"}})");
    EXPECT_EQ(get("audit", R"({"id":{"S":"other"}})"), "");
  }

  static item::Item other() { return json(R"({"id":{"S":"other"}})"); }
  static item::Key event() { return json(R"({"id":{"S":"event"}})"); }

  // Both ways to ask for a write.
  template <class Response, class Request>
  std::string refused(const Request& request, store::Answer<Response> (store::Store::*write)(const Request&),
                      void (store::Store::*begin)(const Request&, store::Completion<Response>)) {
    store::Store& all = closed_;
    std::string later = "no answer";
    (all.*begin)(request, [&later](store::Answer<Response> answer) { later = outcome(answer); });
    EXPECT_THAT(later, StartsWith("AccessDeniedException"));
    return outcome((all.*write)(request));
  }

  ReadOnlyTable closed_{store(), "audit"};
};

TEST_F(ReadOnlyTableTest, NoItemIsWritten) {
  using store::Store;
  store::PutItemRequest put;
  put.table_name = "audit";
  put.item = other();
  EXPECT_THAT(refused<store::WriteItemResponse>(put, &Store::put_item, &Store::put_item),
              StartsWith("AccessDeniedException: Table audit "));
  store::UpdateItemRequest update;
  update.table_name = "audit";
  update.key = event();
  update.update = "SET who = :who";
  update.placeholders.values = item::Map{{":who", "eve"}};
  EXPECT_THAT(refused<store::WriteItemResponse>(update, &Store::update_item, &Store::update_item),
              StartsWith("AccessDeniedException"));
  store::DeleteItemRequest removal;
  removal.table_name = "audit";
  removal.key = event();
  EXPECT_THAT(refused<store::WriteItemResponse>(removal, &Store::delete_item, &Store::delete_item),
              StartsWith("AccessDeniedException"));
}

TEST_F(ReadOnlyTableTest, NothingOfABatchIsWrittenThatHasAnItemOfIt) {
  using store::Store;
  store::BatchWriteItemRequest batch;
  batch.tables = {{"open", {store::BatchPut{other()}}}, {"audit", {store::BatchDelete{event()}}}};
  EXPECT_THAT(refused<store::BatchWriteItemResponse>(batch, &Store::batch_write_item, &Store::batch_write_item),
              StartsWith("AccessDeniedException"));
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{"open", other()}, store::TransactDelete{"audit", event()}};
  EXPECT_THAT(refused<store::TransactWriteItemsResponse>(transaction, &Store::transact_write_items,
                                                         &Store::transact_write_items),
              StartsWith("AccessDeniedException"));
  EXPECT_EQ(get("open", R"({"id":{"S":"other"}})"), "");
}

TEST_F(ReadOnlyTableTest, ATransactionMayCheckIt) {
  store::TransactConditionCheck check{"audit", event()};
  check.condition = "attribute_exists(id)";
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{"open", other()}, check};
  EXPECT_EQ(outcome(closed_.transact_write_items(transaction)), "ok");
}

TEST_F(ReadOnlyTableTest, TheTableStaysAsItIs) {
  EXPECT_THAT(outcome(closed_.delete_table("audit")), StartsWith("AccessDeniedException"));
  store::UpdateTableRequest update;
  update.table_name = "audit";
  EXPECT_THAT(outcome(closed_.update_table(update)), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.update_time_to_live("audit", {})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.update_continuous_backups("audit", {})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.create_table(table("audit", "id:S"))), StartsWith("AccessDeniedException"));
}

TEST_F(ReadOnlyTableTest, ItGetsNoTags) {
  const auto arn = [this](const std::string& name) { return closed_.describe_table(name)->arn; };
  EXPECT_THAT(outcome(closed_.tag_resource(arn("audit"), {{"team", "billing"}})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.untag_resource(arn("audit"), {"team"})), StartsWith("AccessDeniedException"));
  EXPECT_EQ(outcome(closed_.tag_resource(arn("open"), {{"team", "billing"}})), "ok");
  EXPECT_EQ(outcome(closed_.untag_resource(arn("open"), {"team"})), "ok");
}

TEST_F(ReadOnlyTableTest, ItCanBeRead) {
  store::GetItemRequest request;
  request.table_name = "audit";
  request.key = event();
  const auto found = closed_.get_item(request);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->item.has_value());
  EXPECT_EQ(outcome(closed_.describe_table("audit")), "ok");
}

TEST_F(ReadOnlyTableTest, OtherTablesAreOpen) {
  store::PutItemRequest put;
  put.table_name = "open";
  put.item = other();
  EXPECT_EQ(outcome(closed_.put_item(put)), "ok");
  EXPECT_EQ(outcome(closed_.delete_table("open")), "ok");
  ReadOnlyTable nothing_closed(store(), "");
  put.table_name = "audit";
  put.item = json(R"({"id":{"S":"third"}})");
  EXPECT_EQ(outcome(nothing_closed.put_item(put)), "ok");
}

}  // namespace
}  // namespace postino::app
