// Writes whose answers are lost, or that are refused for a while: each is done once, and its caller learns that it was.
#include "false_service.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

using item::Item;
using store::ErrorType;

constexpr auto mild = {Treatment::throttled, Treatment::unavailable};
constexpr auto harsh = {Treatment::failed,
                        Treatment::cut,
                        Treatment::page,
                        Treatment::failed_afterwards,
                        Treatment::cut_afterwards,
                        Treatment::cut_in_the_answer,
                        Treatment::page_afterwards,
                        Treatment::wrong_checksum,
                        Treatment::error_as_success};

class LostAnswersTest : public testing::Test {
 protected:
  LostAnswersTest() {
    store::CreateTableRequest request = store::CreateTableRequest();
    request.table_name = "things";
    request.attribute_definitions = {{"pk", item::Type::string}};
    request.key_schema = {{"pk", store::KeyRole::hash}};
    request.billing_mode = store::BillingMode::pay_per_request;
    request.stream = store::StreamSpecification{true, store::StreamViewType::new_and_old_images};
    EXPECT_TRUE(embedded_.engine().create_table(request));
    remote_ = make_remote(options_for(service_.port()), hurried_clock(), random_);
  }

  RemoteStore& store() { return *remote_; }
  engine::Engine& engine() { return embedded_.engine(); }
  FalseService& service() { return service_; }

  std::optional<Item> stored(const std::string& key) { return engine().get_item(get("things", {{"pk", key}}))->item; }
  // How often the table was changed.
  std::size_t changes() {
    const auto table = engine().describe_table("things");
    const auto stream = engine().describe_stream({.stream_arn = *table->latest_stream_arn});
    const auto iterator = engine().get_shard_iterator(
        {*table->latest_stream_arn, stream->shards.at(0).id, store::IteratorType::trim_horizon, {}});
    return engine().get_records({.shard_iterator = *iterator})->records.size();
  }

  // Runs it with each of the treatments for the first attempt, and with two of them.
  template <class Treatments>
  void with_each(const Treatments& treatments, const std::function<void(const std::string& key)>& run) {
    int number = 0;
    for (const Treatment first : treatments)
      for (const bool is_second : {false, true}) {
        const std::string key = "key-" + std::to_string(++number);
        service_.treat_next(is_second ? std::deque{first, first} : std::deque{first});
        const int before = service_.requests();
        run(key);
        EXPECT_GT(service_.requests(), before + 1) << "treatment " << static_cast<int>(first);
        if (testing::Test::HasFailure()) FAIL() << "treatment " << static_cast<int>(first);
      }
  }
  void with_each_treatment(const std::function<void(const std::string& key)>& run) {
    with_each(mild, run);
    ASSERT_NO_FATAL_FAILURE();
    with_each(harsh, [&](const std::string& key) { run("harsh-" + key); });
  }

 private:
  engine::EmbeddedStore embedded_{std::make_shared<base::ManualClock>(engine::embedded_start)};
  FalseService service_{embedded_.engine()};
  base::SeededRandom random_{4};
  std::unique_ptr<RemoteStore> remote_;
};

TEST_F(LostAnswersTest, ToReadsAreAskedForAgain) {
  ASSERT_TRUE(engine().put_item(put("things", {{"pk", "a"}, {"x", 1}})));
  with_each_treatment([&](const std::string&) {
    const auto found = store().get_item(get("things", {{"pk", "a"}}));
    ASSERT_EQ(refusal_of(found), "");
    EXPECT_EQ(found->item, (Item{{"pk", "a"}, {"x", 1}}));
  });
}

TEST_F(LostAnswersTest, AreThoseWithoutAChecksumWhereOthersHadOne) {
  ASSERT_TRUE(store().get_item(get("things", {{"pk", "a"}})));
  const int before = service().requests();
  service().treat_next({Treatment::no_checksum});
  EXPECT_TRUE(store().get_item(get("things", {{"pk", "a"}})));
  EXPECT_EQ(service().requests(), before + 2) << "asked again";
}

TEST_F(LostAnswersTest, OfPutsAreRecognised) {
  std::size_t expected = 0;
  with_each_treatment([&](const std::string& key) {
    store::PutItemRequest request = put("things", {{"pk", key}, {"owner", "me"}});
    request.condition = "attribute_not_exists(pk)";
    EXPECT_EQ(refusal_of(store().put_item(request)), "");
    EXPECT_EQ(stored(key), request.item);
    EXPECT_EQ(changes(), ++expected) << "once";
  });
}

TEST_F(LostAnswersTest, OfUpdatesAreRecognised) {
  with_each_treatment([&](const std::string& key) {
    ASSERT_TRUE(engine().put_item(put("things", {{"pk", key}, {"stage", "new"}, {"lease", 1}})));
    const std::size_t before = changes();
    store::UpdateItemRequest request = update("things", {{"pk", key}}, "SET stage = :sent, holder = :me REMOVE lease",
                                              {{":sent", "sent"}, {":me", "me"}, {":new", "new"}});
    request.condition = "stage = :new";
    request.return_values = store::ReturnValues::all_new;
    const auto answer = store().update_item(request);
    EXPECT_EQ(refusal_of(answer), "");
    const Item after{{"pk", key}, {"stage", "sent"}, {"holder", "me"}};
    if (answer) EXPECT_EQ(answer->attributes, after);
    EXPECT_EQ(stored(key), after);
    EXPECT_EQ(changes(), before + 1) << "once";
  });
}

TEST_F(LostAnswersTest, OfDeletesAreRecognised) {
  with_each_treatment([&](const std::string& key) {
    ASSERT_TRUE(engine().put_item(put("things", {{"pk", key}, {"owner", "me"}})));
    store::DeleteItemRequest request = remove("things", {{"pk", key}});
    request.condition = "#owner = :me";
    request.placeholders = {expr::Names{{"#owner", "owner"}}, item::Map{{":me", "me"}}};
    EXPECT_EQ(refusal_of(store().delete_item(request)), "");
    EXPECT_EQ(stored(key), std::nullopt);
  });
}

TEST_F(LostAnswersTest, OfTransactionsAreKnownByTheirToken) {
  with_each_treatment([&](const std::string& key) {
    store::TransactUpdate action;
    action.table_name = "things";
    action.key = {{"pk", key}};
    action.update = "ADD hits :one";
    action.condition = "attribute_not_exists(hits)";
    action.placeholders.values = item::Map{{":one", 1}};
    store::TransactWriteItemsRequest request;
    request.actions = {action};
    EXPECT_EQ(refusal_of(store().transact_write_items(request)), "");
    EXPECT_EQ(stored(key), (Item{{"pk", key}, {"hits", 1}})) << "once";
  });
}

TEST_F(LostAnswersTest, OfWritesWithoutAConditionDoNoHarm) {
  with_each_treatment([&](const std::string& key) {
    EXPECT_EQ(refusal_of(store().put_item(put("things", {{"pk", key}, {"x", 1}}))), "");
    EXPECT_EQ(stored(key), (Item{{"pk", key}, {"x", 1}}));
  });
  with_each_treatment([&](const std::string& key) {
    store::BatchWriteItemRequest request;
    request.tables = {{"things", {store::BatchPut{{{"pk", key}, {"x", 2}}}, store::BatchDelete{{{"pk", "none"}}}}}};
    EXPECT_EQ(refusal_of(store().batch_write_item(request)), "");
    EXPECT_EQ(stored(key), (Item{{"pk", key}, {"x", 2}}));
  });
}

TEST_F(LostAnswersTest, OfUpdatesThatCountAreNotKnown) {
  const auto count = [&](const std::string& key) {
    return store().update_item(update("things", {{"pk", key}}, "ADD hits :one", {{":one", 1}}));
  };
  with_each(mild, [&](const std::string& key) {
    EXPECT_EQ(refusal_of(count(key)), "");
    EXPECT_EQ(stored(key), (Item{{"pk", key}, {"hits", 1}}));
  });
  int number = 0;
  for (const Treatment treatment : harsh) {
    const std::string key = "harsh-" + std::to_string(++number);
    service().treat_next({treatment});
    const auto answer = count(key);
    ASSERT_FALSE(answer) << static_cast<int>(treatment);
    EXPECT_EQ(answer.error().type, ErrorType::internal_server_error) << "it may be done or not";
    const auto item = stored(key);
    if (item) EXPECT_EQ(*item, (Item{{"pk", key}, {"hits", 1}})) << "never twice";
  }
}

TEST_F(LostAnswersTest, OfWritesThatReturnThePastAreNotKnown) {
  ASSERT_TRUE(engine().put_item(put("things", {{"pk", "a"}, {"x", 1}})));
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"x", 2}});
  request.return_values = store::ReturnValues::all_old;
  service().treat_next({Treatment::cut_afterwards});
  EXPECT_EQ(store().put_item(request).error().type, ErrorType::internal_server_error)
      << "a second attempt would tell of x = 2";
}

// It may have been this write that the other one has replaced since.
TEST_F(LostAnswersTest, AreNotKnownWhereAnotherHasWritten) {
  ASSERT_TRUE(engine().put_item(put("things", {{"pk", "a"}, {"owner", "another"}})));
  store::PutItemRequest request = put("things", {{"pk", "a"}, {"owner", "me"}});
  request.condition = "attribute_not_exists(pk)";
  service().treat_next({Treatment::cut});
  EXPECT_EQ(store().put_item(request).error().type, ErrorType::internal_server_error);
  service().treat_next({Treatment::throttled});
  EXPECT_EQ(store().put_item(request).error().type, ErrorType::conditional_check_failed) << "nothing was lost";
  EXPECT_EQ(stored("a"), (Item{{"pk", "a"}, {"owner", "another"}}));
}

// A connection that was kept may be dead when the next request meets it.
TEST_F(LostAnswersTest, OnKeptConnectionsAreNotSentAgainUnseen) {
  ASSERT_EQ(refusal_of(store().update_item(update("things", {{"pk", "a"}}, "ADD hits :one", {{":one", 1}}))), "");
  service().treat_next({Treatment::cut_afterwards});
  EXPECT_EQ(store().update_item(update("things", {{"pk", "a"}}, "ADD hits :one", {{":one", 1}})).error().type,
            ErrorType::internal_server_error);
  EXPECT_EQ(stored("a"), (Item{{"pk", "a"}, {"hits", 2}}));
}

TEST_F(LostAnswersTest, OfTablesAreRecognised) {
  for (const Treatment treatment : harsh) {
    service().treat_next({treatment});
    store::CreateTableRequest request = store::CreateTableRequest();
    request.table_name = "new";
    request.attribute_definitions = {{"pk", item::Type::string}};
    request.key_schema = {{"pk", store::KeyRole::hash}};
    request.billing_mode = store::BillingMode::pay_per_request;
    const auto created = store().create_table(request);
    ASSERT_EQ(refusal_of(created), "") << static_cast<int>(treatment);
    EXPECT_EQ(created->name, "new");
    service().treat_next({treatment});
    EXPECT_EQ(refusal_of(store().update_time_to_live("new", {"ttl", true})), "") << static_cast<int>(treatment);
    service().treat_next({treatment});
    const auto deleted = store().delete_table("new");
    ASSERT_EQ(refusal_of(deleted), "") << static_cast<int>(treatment);
    EXPECT_EQ(deleted->name, "new");
    EXPECT_FALSE(engine().describe_table("new"));
  }
}

}  // namespace
}  // namespace postino::remote
