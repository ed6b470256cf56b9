// Item collections of tables with local indexes have a greatest size.
#include "engine/engine_testing.h"

namespace postino::engine {
namespace {

constexpr const char* exceeded = "ItemCollectionSizeLimitExceededException: Collection size exceeded.";

class CollectionSizeTest : public EngineTest {
 protected:
  CollectionSizeTest() {
    options_.max_item_collection_bytes = 100'000;
    reopen();
    store::CreateTableRequest request = table("things", "pk:S", "sk:S");
    add_local_index(request, "by-a", "a:S");
    create(request);
    create(table("plain", "pk:S", "sk:S"));
  }

  static item::Item thing(std::string pk, std::string sk, std::size_t bytes) {
    return {{"pk", std::move(pk)}, {"sk", std::move(sk)}, {"a", "a"}, {"x", std::string(bytes, 'x')}};
  }
  std::string put_thing(const std::string& pk, const std::string& sk, std::size_t bytes,
                        const std::string& table_name = "things") {
    return outcome(store().put_item({.table_name = table_name, .item = thing(pk, sk, bytes)}));
  }
};

TEST_F(CollectionSizeTest, AFullCollectionDoesNotGrow) {
  ASSERT_EQ(put_thing("full", "1", 60'000), "ok");  // with its index entry more than the limit
  EXPECT_EQ(put_thing("full", "2", 10), exceeded);
  EXPECT_EQ(put_thing("full", "1", 60'001), exceeded);
  EXPECT_EQ(put_thing("full", "1", 50'000, "plain"), "ok");
  EXPECT_EQ(put_thing("full", "2", 60'000, "plain"), "ok");

  store::UpdateItemRequest update;
  update.table_name = "things";
  update.key = {{"pk", "full"}, {"sk", "1"}};
  update.update = "SET y = :y";
  update.placeholders.values = item::Map{{":y", "yes"}};
  EXPECT_EQ(outcome(store().update_item(update)), exceeded);

  store::BatchWriteItemRequest batch;
  batch.tables = {{"things", {store::BatchPut{thing("full", "2", 10)}}}};
  EXPECT_EQ(outcome(store().batch_write_item(batch)), exceeded);

  store::TransactWriteItemsRequest transaction;
  transaction.actions = {store::TransactPut{.table_name = "things", .item = thing("empty", "2", 10)},
                         store::TransactPut{.table_name = "things", .item = thing("full", "2", 10)}};
  const auto cancelled = store().transact_write_items(transaction);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().details->reasons.at(0).code, "None");
  EXPECT_EQ(cancelled.error().details->reasons.at(1).code, "ItemCollectionSizeLimitExceeded");
  EXPECT_EQ(cancelled.error().details->reasons.at(1).message, "Collection size exceeded.");

  // From here on the shares of the two are estimates: of two entries, each may be half of all.
  EXPECT_EQ(put_thing("empty", "1", 10), "ok");
}

TEST_F(CollectionSizeTest, WhatIsDeletedMakesRoom) {
  ASSERT_EQ(put_thing("full", "1", 60'000), "ok");
  ASSERT_EQ(put_thing("full", "2", 10), exceeded);
  EXPECT_EQ(put_thing("full", "1", 1'000), "ok");
  EXPECT_EQ(put_thing("full", "2", 10), "ok");
}

}  // namespace
}  // namespace postino::engine
