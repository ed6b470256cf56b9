// Tables that other programs can read and not change, by any operation of the store.
#include "app/server/read_only_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_testing.h"
#include "store/table_setup.h"

namespace postino::app {
namespace {

using engine::json;
using engine::outcome;
using testing::StartsWith;

class ReadOnlyTablesTest : public engine::EngineTest {
 protected:
  ReadOnlyTablesTest() {
    create(table("audit", "id:S"));
    create(table("open", "id:S"));
    put("audit", R"({"id":{"S":"event"},"who":{"S":"ann"}})");
  }
  ~ReadOnlyTablesTest() override {
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

  ReadOnlyTables closed_{store(), {"audit"}};
};

TEST_F(ReadOnlyTablesTest, NoItemIsWritten) {
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

TEST_F(ReadOnlyTablesTest, NothingOfABatchIsWrittenThatHasAnItemOfIt) {
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

TEST_F(ReadOnlyTablesTest, ATransactionMayCheckIt) {
  store::TransactConditionCheck check{"audit", event()};
  check.condition = "attribute_exists(id)";
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{"open", other()}, check};
  EXPECT_EQ(outcome(closed_.transact_write_items(transaction)), "ok");
}

TEST_F(ReadOnlyTablesTest, TheTableStaysAsItIs) {
  EXPECT_THAT(outcome(closed_.delete_table("audit")), StartsWith("AccessDeniedException"));
  store::UpdateTableRequest update;
  update.table_name = "audit";
  EXPECT_THAT(outcome(closed_.update_table(update)), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.update_time_to_live("audit", {})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.update_continuous_backups("audit", {})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.create_table(table("audit", "id:S"))), StartsWith("AccessDeniedException"));
}

TEST_F(ReadOnlyTablesTest, ItGetsNoTags) {
  const auto arn = [this](const std::string& name) { return closed_.describe_table(name)->arn; };
  EXPECT_THAT(outcome(closed_.tag_resource(arn("audit"), {{"team", "billing"}})), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed_.untag_resource(arn("audit"), {"team"})), StartsWith("AccessDeniedException"));
  EXPECT_EQ(outcome(closed_.tag_resource(arn("open"), {{"team", "billing"}})), "ok");
  EXPECT_EQ(outcome(closed_.untag_resource(arn("open"), {"team"})), "ok");
}

TEST_F(ReadOnlyTablesTest, ItCanBeRead) {
  store::GetItemRequest request;
  request.table_name = "audit";
  request.key = event();
  const auto found = closed_.get_item(request);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->item.has_value());
  EXPECT_EQ(outcome(closed_.describe_table("audit")), "ok");
}

TEST_F(ReadOnlyTablesTest, OtherTablesAreOpen) {
  store::PutItemRequest put;
  put.table_name = "open";
  put.item = other();
  EXPECT_EQ(outcome(closed_.put_item(put)), "ok");
  EXPECT_EQ(outcome(closed_.delete_table("open")), "ok");
  ReadOnlyTables nothing_closed(store(), {});
  put.table_name = "audit";
  put.item = json(R"({"id":{"S":"third"}})");
  EXPECT_EQ(outcome(nothing_closed.put_item(put)), "ok");
}

TEST_F(ReadOnlyTablesTest, TheMarkStaysWithTheTable) {
  create(table("former-audit", "id:S"));
  ASSERT_TRUE(store::mark_read_only(store(), "former-audit", "audit"));
  ASSERT_TRUE(store::mark_read_only(store(), "former-audit", "audit")) << "once more";
  const auto marked = store::read_only_tables(store());
  ASSERT_TRUE(marked) << marked.error().message;
  EXPECT_THAT(*marked, testing::ElementsAre("former-audit"));

  ReadOnlyTables closed(store(), *marked);
  store::PutItemRequest put;
  put.table_name = "former-audit";
  put.item = other();
  EXPECT_THAT(outcome(closed.put_item(put)), StartsWith("AccessDeniedException: Table former-audit "));
  EXPECT_THAT(outcome(closed.delete_table("former-audit")), StartsWith("AccessDeniedException"));
  EXPECT_THAT(outcome(closed.update_time_to_live("former-audit", {})), StartsWith("AccessDeniedException"));
  const std::string arn = closed.describe_table("former-audit")->arn;
  EXPECT_THAT(outcome(closed.untag_resource(arn, {std::string(store::read_only_tag)})),
              StartsWith("AccessDeniedException"));
}

// A caller that could would close tables of others for good.
TEST_F(ReadOnlyTablesTest, OthersCannotSetTheMark) {
  const store::Tag mark{std::string(store::read_only_tag), "mine"};
  EXPECT_THAT(outcome(closed_.tag_resource(closed_.describe_table("open")->arn, {{"team", "billing"}, mark})),
              StartsWith("AccessDeniedException: The tag postino:read-only "));
  store::CreateTableRequest request = table("third", "id:S");
  request.tags = {mark};
  EXPECT_THAT(outcome(closed_.create_table(request)), StartsWith("AccessDeniedException"));
}

// As sessions are among the tickets.
TEST_F(ReadOnlyTablesTest, ItemsOfTheServerStayInATableThatOthersWriteTo) {
  create(table("tickets", "PK:S"));
  put("tickets", R"({"PK":{"S":"SESSION#1"},"who":{"S":"ann"}})");
  ReadOnlyTables closed(store(), {}, {{"tickets", "SESSION#"}});
  const item::Item session = json(R"({"PK":{"S":"SESSION#2"}})");
  const item::Key kept = json(R"({"PK":{"S":"SESSION#1"}})");
  const item::Item ticket = json(R"({"PK":{"S":"TICKET#1"}})");
  const auto is_refused = testing::StartsWith(
      "AccessDeniedException: An item of table tickets whose PK begins with SESSION# belongs to this server");
  store::PutItemRequest put_session;
  put_session.table_name = "tickets";
  put_session.item = session;
  EXPECT_THAT(outcome(closed.put_item(put_session)), is_refused);
  store::UpdateItemRequest update;
  update.table_name = "tickets";
  update.key = kept;
  update.update = "SET who = :who";
  update.placeholders.values = item::Map{{":who", "eve"}};
  EXPECT_THAT(outcome(closed.update_item(update)), is_refused);
  store::DeleteItemRequest removal;
  removal.table_name = "tickets";
  removal.key = kept;
  EXPECT_THAT(outcome(closed.delete_item(removal)), is_refused);
  store::BatchWriteItemRequest batch;
  batch.tables = {{"tickets", {store::BatchPut{ticket}, store::BatchDelete{kept}}}};
  EXPECT_THAT(outcome(closed.batch_write_item(batch)), is_refused);
  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{.table_name = "tickets", .item = ticket},
                         store::TransactDelete{.table_name = "tickets", .key = kept}};
  EXPECT_THAT(outcome(closed.transact_write_items(transaction)), is_refused);
  EXPECT_EQ(get("tickets", R"({"PK":{"S":"SESSION#1"}})"), R"({"PK":{"S":"SESSION#1"},"who":{"S":"ann"}})");
  EXPECT_EQ(get("tickets", R"({"PK":{"S":"TICKET#1"}})"), "");
  store::PutItemRequest put_ticket;
  put_ticket.table_name = "tickets";
  put_ticket.item = ticket;
  EXPECT_TRUE(closed.put_item(put_ticket));
  EXPECT_EQ(get("tickets", R"({"PK":{"S":"TICKET#1"}})"), R"({"PK":{"S":"TICKET#1"}})");
}

}  // namespace
}  // namespace postino::app
