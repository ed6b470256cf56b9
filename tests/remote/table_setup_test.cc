// Tables of a service on a store where making them takes a while.
#include "store/table_setup.h"

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
#include "local_service.h"
#include "tested_store.h"

namespace postino::remote {
namespace {

class SlowTablesTest : public testing::Test {
 protected:
  SlowTablesTest() {
    engine::Options options;
    options.directory = directory_.path() / "data";
    options.background = false;
    options.durability = engine::Durability::relaxed;
    options.clock = clock_;
    options.realistic_timing = true;
    engine_ = std::move(engine::Engine::open(options)).value();
    service_ = std::make_unique<LocalService>(*engine_);
  }

  store::Store& store() { return service_->store(); }

  store::TableWait wait() {
    store::TableWait wait;
    wait.sleep = [this](base::Milliseconds time) {
      ++waits_;
      clock_->advance(time);
      while (engine_->run_maintenance_once().value_or(false)) {
      }
    };
    return wait;
  }

  base::TemporaryDirectory directory_{engine::memory_directory()};
  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<LocalService> service_;
  int waits_ = 0;
};

TEST_F(SlowTablesTest, AreWaitedFor) {
  const store::CreateTableRequest request = store::table_request("new", {{"pk", item::Type::string}});
  const auto prepared = store::prepare_table(store(), request, "ttl", wait());
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_GT(waits_, 0) << "it is made as slowly as on AWS";
  EXPECT_EQ(store().describe_table("new")->status, store::TableStatus::active);
  EXPECT_NE(store().describe_time_to_live("new")->status, store::TimeToLiveStatus::disabled);
  EXPECT_EQ(refusal_of(store().put_item(put("new", {{"pk", "a"}}))), "");
  ASSERT_TRUE(store::prepare_table(store(), request, "ttl", wait())) << "again";
}

TEST_F(SlowTablesTest, OfAnotherProgramAreWaitedForToo) {
  store::CreateTableRequest request = store::table_request("theirs", {{"pk", item::Type::string}});
  request.deletion_protection = false;
  ASSERT_EQ(refusal_of(store().create_table(request)), "");
  const auto prepared = store::prepare_table(store(), request, "", wait());
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_TRUE(store().describe_table("theirs")->deletion_protection);
}

TEST_F(SlowTablesTest, AreNotWaitedForForever) {
  store::TableWait wait;
  wait.patience = std::chrono::seconds(30);
  base::Milliseconds waited{0};
  wait.sleep = [&](base::Milliseconds time) { waited += time; };  // and nothing happens
  const auto prepared =
      store::prepare_table(store(), store::table_request("stuck", {{"pk", item::Type::string}}), "", wait);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, base::ErrorCode::conflict);
  EXPECT_EQ(prepared.error().message, "table stuck is still being made or changed");
  EXPECT_GE(waited, wait.patience);
  EXPECT_LT(waited, 2 * wait.patience);
}

TEST_F(SlowTablesTest, GetMissingIndexes) {
  store::CreateTableRequest request = store::table_request("bare", {{"pk", item::Type::string}});
  ASSERT_TRUE(store::prepare_table(store(), request, "", wait()));
  request.attribute_definitions.push_back({"g", item::Type::string});
  store::GlobalIndexDefinition index;
  index.name = "by-g";
  index.key_schema = {{"g", store::KeyRole::hash}};
  index.projection.type = store::ProjectionType::all;
  request.global_indexes = {index};
  const auto added = store::add_missing_index(store(), request, store().describe_table("bare").value());
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_TRUE(*added);
  const auto found = store::await_table(store(), "bare", wait());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->global_indexes.size(), 1U);
}

TEST_F(SlowTablesTest, ThatAreNotThereAreNotWaitedFor) {
  EXPECT_EQ(store::await_table(store(), "none", wait()).error().code, base::ErrorCode::not_found);
  EXPECT_EQ(waits_, 0);
}

}  // namespace
}  // namespace postino::remote
