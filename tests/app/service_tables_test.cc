// The list of tables that services need, against what the services make; and how a store is brought to have them.
#include "app/store/service_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/store/made_tables.h"
#include "base/random.h"
#include "engine/engine_testing.h"
#include "store/forwarding_store.h"
#include "store/table_plan.h"

namespace postino::app {
namespace {

using Kind = store::TableChange::Kind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names_of(const std::vector<store::TableSetup>& setups) {
  std::vector<std::string> names;
  for (const store::TableSetup& setup : setups) names.push_back(setup.request.table_name);
  return names;
}

TEST(ServiceTables, AreThoseOfTheServicesThatAreOn) {
  Settings settings;
  EXPECT_THAT(
      names_of(service_tables(settings)),
      ElementsAre("email-outbox", "email-outbox-spool", "email-outbox-counts", "email-outbox-suppressions",
                  "email-outbox-mailbox", "email-outbox-idempotency", settings.idempotency.table,
                  settings.idempotency.table + "-answers", "messages", "EmailTrackingTable", "EmailTrackingTable-audit",
                  "prod-tickets-unified", "prod-metrics", "postino-audit", "postino-keys"));
  settings.reminders.off = settings.tickets.off = settings.metrics.off = settings.audit.off = settings.keys.off = true;
  settings.outbox.ledger = LedgerKind::mysql;
  EXPECT_THAT(names_of(service_tables(settings)), ElementsAre("email-outbox-mailbox", settings.idempotency.table,
                                                              settings.idempotency.table + "-answers", "messages"));
  settings.outbox.relays.push_back({"mx.example", 25});
  EXPECT_THAT(names_of(service_tables(settings)), Not(Contains("email-outbox-mailbox")));
  settings.outbox.off = true;
  EXPECT_THAT(service_tables(settings), IsEmpty());
}

TEST(ServiceTables, HaveStreamsWhereTheyAreFollowed) {
  Settings settings;
  settings.metrics.emails = true;
  settings.metrics.subscribers.push_back({"all", "orders", ChangeSubscriber::Kind::files, "", "/tmp"});
  EXPECT_THAT(followed_tables(settings),
              ElementsAre("EmailTrackingTable", "email-outbox", "orders", "prod-tickets-unified"));
  for (const store::TableSetup& setup : service_tables(settings))
    EXPECT_EQ(setup.request.stream.has_value(), followed_tables(settings).contains(setup.request.table_name))
        << setup.request.table_name;
}

// A service would remove the parts of a count one by one, and what is left of them would count.
TEST(ServiceTables, LetNoCountsExpireWhereTheServiceRemovesThem) {
  Settings settings;
  const auto expiry_of_counts = [&settings] {
    for (const store::TableSetup& setup : service_tables(settings))
      if (setup.request.table_name == "email-outbox-counts") return setup.expiry;
    return std::string("no such table");
  };
  EXPECT_EQ(expiry_of_counts(), "TTL");
  settings.store = StoreKind::dynamodb;
  EXPECT_EQ(expiry_of_counts(), "");
}

// Another Postino would keep the server from the audits that it marks itself.
TEST(ServiceTables, MarkAuditsInAStoreOfTheirOwnOnly) {
  Settings settings;
  const auto marked = [&settings] {
    std::vector<std::string> names;
    for (const store::TableSetup& setup : service_tables(settings))
      for (const store::Tag& tag : setup.request.tags)
        if (tag.key == store::read_only_tag) names.push_back(setup.request.table_name);
    return names;
  };
  EXPECT_THAT(marked(), ElementsAre(audit_table(settings), "postino-audit", "postino-keys"));
  settings.store = StoreKind::dynamodb;
  EXPECT_THAT(marked(), IsEmpty());
}

class TablePlanTest : public engine::EngineTest {
 protected:
  store::TablePlan plan() {
    auto planned = store::plan_tables(store(), wanted_);
    EXPECT_TRUE(planned) << planned.error().message;
    return *std::move(planned);
  }
  base::Result<store::TablePlan> apply() {
    store::TableApplication application;
    application.wait = [this] {
      clock().advance(std::chrono::minutes(5));
      while (engine().run_maintenance_once().value_or(false)) {
      }
      return ++waits_ < 1'000;
    };
    application.tell = [this](const store::TableChange& change) { told_.push_back(change.text()); };
    return store::apply_tables(store(), wanted_, application);
  }
  store::TableDescription described(const std::string& name) { return *store().describe_table(name); }

  std::vector<store::TableSetup> wanted_ = service_tables({});
  std::vector<std::string> told_;
  int waits_ = 0;
};

TEST_F(TablePlanTest, MakesEverythingOnce) {
  const store::TablePlan before = plan();
  EXPECT_THAT(before.changes, Contains(store::TableChange{Kind::create_table, "email-outbox", ""}));
  EXPECT_THAT(before.changes, Contains(store::TableChange{Kind::enable_expiry, "email-outbox", "TTL"}));
  EXPECT_THAT(before.changes, Contains(store::TableChange{Kind::enable_recovery, "prod-tickets-unified", ""}));
  const auto done = apply();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(done->changes, testing::UnorderedElementsAreArray(before.changes));
  EXPECT_EQ(told_.size(), done->changes.size());
  for (const store::TableSetup& setup : wanted_) {
    const store::TableDescription table = described(setup.request.table_name);
    EXPECT_EQ(table.global_indexes.size(), setup.request.global_indexes ? setup.request.global_indexes->size() : 0);
    EXPECT_TRUE(table.deletion_protection);
  }
  EXPECT_THAT(plan().changes, IsEmpty());
  told_.clear();
  ASSERT_TRUE(apply());
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(TablePlanTest, AnotherServerThatStartsMayBeQuicker) {
  store::TableApplication application;
  application.wait = [this] { return ++waits_ < 1'000; };
  application.tell = [this](const store::TableChange& change) {
    told_.push_back(change.text());
    if (change.kind == Kind::create_table) return;
    ASSERT_TRUE(apply()) << "between the look at the table and the change";
  };
  const auto done = store::apply_tables(store(), wanted_, application);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(plan().changes, IsEmpty());
}

TEST_F(TablePlanTest, WaitsForTablesThatTakeTheirTime) {
  options_.realistic_timing = true;
  reopen();
  const auto done = apply();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GT(waits_, 0);
  EXPECT_EQ(described("email-outbox").status, store::TableStatus::active);
  EXPECT_THAT(plan().changes, IsEmpty());
}

TEST_F(TablePlanTest, GivesATableOfOthersWhatItLacksOneIndexAtATime) {
  store::CreateTableRequest request = table("prod-tickets-unified", "PK:S", "SK:S");
  create(request);
  put("prod-tickets-unified", R"({"PK":{"S":"a"},"SK":{"S":"b"}})");
  EXPECT_THAT(plan().changes,
              testing::IsSupersetOf({store::TableChange{Kind::protect, "prod-tickets-unified", ""},
                                     store::TableChange{Kind::enable_stream, "prod-tickets-unified", ""},
                                     store::TableChange{Kind::enable_expiry, "prod-tickets-unified", "ttl"}}));
  ASSERT_TRUE(apply());
  EXPECT_THAT(plan().changes, IsEmpty());
  EXPECT_EQ(described("prod-tickets-unified").global_indexes.size(), 4U);
  EXPECT_EQ(get("prod-tickets-unified", R"({"PK":{"S":"a"},"SK":{"S":"b"}})"), R"({"PK":{"S":"a"},"SK":{"S":"b"}})");
}

TEST_F(TablePlanTest, ChangesNothingWhenSomethingIsInTheWay) {
  create(table("prod-metrics", "other:S"));
  store::CreateTableRequest tracking = table("EmailTrackingTable", "PK:S", "SK:S");
  add_global_index(tracking, "StatusIndex", "SK:S");
  tracking.global_indexes->front().name = *[&]() -> std::optional<std::string> {
    for (const store::TableSetup& setup : wanted_)
      if (setup.request.table_name == tracking.table_name) return setup.request.global_indexes->front().name;
    return std::nullopt;
  }();
  create(tracking);
  EXPECT_EQ(plan().obstacles.size(), 2U);
  const auto refused = apply();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("table prod-metrics exists with other keys"));
  EXPECT_THAT(refused.error().message, HasSubstr("of table EmailTrackingTable has other keys"));
  EXPECT_EQ(engine::outcome(store().describe_table("email-outbox")).substr(0, 25), "ResourceNotFoundException");
}

// A store that does less, and is not always there.
class PoorStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  store::Answer<store::TableDescription> create_table(const store::CreateTableRequest& request) override {
    if (denies) return refuse(store::ErrorType::access_denied, "you may not");
    if (busy-- > 0) return refuse(store::ErrorType::limit_exceeded, "too many tables are being made");
    return ForwardingStore::create_table(request);
  }
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string&, const store::PointInTimeRecoverySpecification&) override {
    return refuse(store::ErrorType::validation, "not here");
  }

  bool denies = false;
  int busy = 0;

 private:
  static tl::unexpected<store::Error> refuse(store::ErrorType type, std::string message) {
    return tl::unexpected<store::Error>(store::Error(type, std::move(message)));
  }
};

TEST_F(TablePlanTest, GoesOnWithoutWhatAStoreDoesNotHave) {
  PoorStore poor(store());
  poor.busy = 3;
  int waits = 0;
  store::TableApplication application;
  application.wait = [&waits] { return ++waits < 100; };
  const auto done = store::apply_tables(poor, wanted_, application);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(waits, 3);
  EXPECT_THAT(done->notes, Contains("cannot turn on point-in-time recovery of table prod-tickets-unified: not here"));
  for (const store::TableChange& change : plan().changes) EXPECT_EQ(change.kind, Kind::enable_recovery);
}

TEST_F(TablePlanTest, SaysWhatItMayNotDo) {
  PoorStore poor(store());
  poor.denies = true;
  store::TableApplication application;
  application.done = [this](const store::TableChange& change) { told_.push_back(change.text()); };
  const auto refused = store::apply_tables(poor, wanted_, application);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid);
  EXPECT_THAT(told_, IsEmpty()) << "nothing was done";
  EXPECT_THAT(refused.error().message, HasSubstr("cannot create table email-outbox: you may not"));
}

TEST_F(TablePlanTest, ServicesFindNothingToDoAfterwards) {
  ASSERT_TRUE(apply());
  PoorStore watched(store());
  watched.denies = true;
  for (const store::TableSetup& setup : wanted_)
    EXPECT_TRUE(store::prepare_table(watched, setup.request, setup.expiry)) << setup.request.table_name;
}

class LostTablesTest : public TablePlanTest {
 protected:
  LostTablesTest() { settings_.store = StoreKind::dynamodb; }

  MadeTables made() {
    return {store(), settings_, store::Retry(random_, [](base::Milliseconds) {})};
  }
  std::vector<std::string> lost() {
    const auto found = made().find_lost(service_tables(settings_));
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<std::string>{"?"});
  }
  // As a server does that starts.
  void start() {
    wanted_ = made().first();
    ASSERT_TRUE(apply());
    ASSERT_TRUE(made().note({}));
    wanted_ = service_tables(settings_);
    ASSERT_TRUE(apply());
    ASSERT_TRUE(made().note(wanted_));
  }
  void remove(const std::string& table) {
    store::UpdateTableRequest update;
    update.table_name = table;
    update.deletion_protection = false;
    ASSERT_TRUE(store().update_table(update));
    ASSERT_TRUE(store().delete_table(table));
    while (engine().run_maintenance_once().value_or(false)) {
    }
  }

  Settings settings_;
  base::SeededRandom random_{1};
};

TEST_F(LostTablesTest, AFirstStartMakesThemAllHoweverOftenItIsBrokenOff) {
  EXPECT_THAT(lost(), IsEmpty());
  wanted_ = made().first();
  ASSERT_TRUE(apply());
  EXPECT_THAT(lost(), IsEmpty()) << "broken off before the note";
  ASSERT_TRUE(made().note({}));
  wanted_ = {service_tables(settings_)[0], service_tables(settings_)[2], wanted_[0], wanted_[1]};
  ASSERT_TRUE(apply());
  EXPECT_THAT(lost(), IsEmpty()) << "broken off after some";
  start();
  EXPECT_THAT(lost(), IsEmpty());
}

TEST_F(LostTablesTest, TablesOfTheSystemThatIsReplacedAreTakenOver) {
  std::erase_if(wanted_ = service_tables(settings_), [&](const store::TableSetup& setup) {
    return setup.request.table_name != settings_.outbox.table && setup.request.table_name != settings_.tickets.table;
  });
  ASSERT_EQ(wanted_.size(), 2u);
  ASSERT_TRUE(apply());
  EXPECT_THAT(lost(), IsEmpty());
  start();
  remove("email-outbox-suppressions");
  EXPECT_THAT(lost(), ElementsAre("email-outbox-suppressions"));
}

// It says of a table that is being made that it is there, and has no item of it.
TEST_F(LostTablesTest, AnotherServerMayBeginAtTheSameMoment) {
  options_.realistic_timing = true;
  reopen();
  for (const store::TableSetup& setup : made().first()) ASSERT_TRUE(store().create_table(setup.request));
  EXPECT_EQ(described(settings_.idempotency.table).status, store::TableStatus::creating);
  EXPECT_THAT(lost(), IsEmpty());
}

TEST_F(LostTablesTest, AFirstKeyMayBeMadeBeforeTheFirstStart) {
  settings_.keys.sealing_key = "sealing.key";
  std::erase_if(wanted_ = service_tables(settings_), [&](const store::TableSetup& setup) {
    return setup.request.table_name != settings_.keys.table && setup.request.table_name != settings_.audit.table;
  });
  ASSERT_EQ(wanted_.size(), 2u);
  ASSERT_TRUE(apply());
  EXPECT_THAT(lost(), IsEmpty());
}

TEST_F(LostTablesTest, ATableThatWasThereIsLost) {
  start();
  remove("email-outbox-suppressions");
  EXPECT_THAT(lost(), ElementsAre("email-outbox-suppressions"));
  EXPECT_THAT(text_of_lost(lost()), HasSubstr("table email-outbox-suppressions is missing"));
  remove("messages");
  EXPECT_THAT(lost(), ElementsAre("email-outbox-suppressions", "messages"));
  remove(settings_.idempotency.table);
  EXPECT_THAT(lost(), Contains(settings_.idempotency.table)) << "the note is gone with it";
  wanted_ = service_tables(settings_);
  ASSERT_TRUE(apply()) << "an operator makes them: postino tables apply";
  EXPECT_THAT(lost(), IsEmpty());
}

TEST_F(LostTablesTest, ANewTableOfALaterVersionOrOfAnotherServiceIsMade) {
  settings_.audit.off = settings_.tickets.off = true;
  start();
  settings_.audit.off = settings_.tickets.off = false;
  EXPECT_THAT(lost(), IsEmpty());
  start();
  remove("postino-audit");
  EXPECT_THAT(lost(), ElementsAre("postino-audit"));
}

TEST_F(LostTablesTest, InAStoreOfAnEarlierVersionOthersOfTheServiceTellThatOneWasThere) {
  wanted_ = service_tables(settings_);
  ASSERT_TRUE(apply());
  remove("postino-audit");
  EXPECT_THAT(lost(), IsEmpty()) << "it has no other table";
  remove("email-outbox-suppressions");
  EXPECT_THAT(lost(), ElementsAre("email-outbox-suppressions"));
  remove(settings_.idempotency.table + "-answers");
  EXPECT_THAT(lost(), ElementsAre("email-outbox-suppressions", settings_.idempotency.table + "-answers"));
}

}  // namespace
}  // namespace postino::app
