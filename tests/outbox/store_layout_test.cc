// The tables as other programs see them: the layout of the outbox's data is public.
#include <gmock/gmock.h>

#include <future>

#include "item/json_codec.h"
#include "outbox_store.h"
#include "partiql/executor.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr base::Milliseconds layout_lease = seconds(30);

class StoreLayoutTest : public testing::Test {
 protected:
  StoreLayoutTest() {
    std::vector<NewEmail> emails{accepted(new_email(email_id(1), "acme")), accepted(new_email(email_id(2))),
                                 accepted(new_email(email_id(3)))};
    emails[0].payload = std::string(700'000, 'p');
    EXPECT_TRUE(ledger_->accept(std::move(emails), AcceptKey{"k", "hash", now() + hours(24)},
                                [](const auto&) { return "answer"; }));
  }

  base::TimePoint now() const { return clock_->now(); }
  Email find(int number) { return **ledger_->find(email_id(number)); }
  Email move(const Change& move) {
    std::vector<Change> moves{move};
    const MoveOutcome outcome = ledger_->move(std::move(moves)).front();
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return outcome.email;
  }
  Email take(int number) {
    const Email email = find(number);
    Change change = moved_to(email, *claimed_form(email.state), now());
    change.after.due_at = now() + layout_lease;
    return move(change);
  }

  template <class Response, class Start>
  static store::Answer<Response> wait(Start begin) {
    std::promise<store::Answer<Response>> answered;
    begin([&](store::Answer<Response> answer) { answered.set_value(std::move(answer)); });
    return answered.get_future().get();
  }
  static partiql::Statement statement(std::string text, std::vector<item::AttributeValue> parameters) {
    partiql::Statement statement;
    statement.text = std::move(text);
    statement.parameters = std::move(parameters);
    statement.has_parameters = true;
    return statement;
  }
  std::vector<item::Item> select(std::string text, std::vector<item::AttributeValue> parameters) {
    partiql::Executor executor(store_.engine());
    partiql::ExecuteStatementRequest request;
    request.statement = statement(std::move(text), std::move(parameters));
    request.limit = 25;
    const auto answer = wait<partiql::ExecuteStatementResponse>(
        [&](auto done) { executor.execute_statement(request, std::move(done)); });
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->items : std::vector<item::Item>();
  }
  // The query by state of the programs that came before.
  std::vector<std::string> in_state(const std::string& state) {
    std::vector<std::string> ids;
    for (
        const item::Item& item : select(
            R"(SELECT Id, Status, Attributes FROM "email-outbox"."StatusIndex" WHERE Status=? AND Attributes.Latest=?)",
            {"_META", state})) {
      EXPECT_EQ(item.size(), 3U) << item::to_json(item);
      ids.push_back(item.find("Id")->as<std::string>());
    }
    return ids;
  }
  // Their change of state: two statements in a transaction.
  bool change_state(const std::string& id, const std::string& state) {
    partiql::Executor executor(store_.engine());
    partiql::ExecuteTransactionRequest request;
    request.statements.push_back({statement(
        R"(UPDATE "email-outbox" SET Attributes.Latest=?, Attributes.UpdatedAt=?, Attributes.Reason=? WHERE Id=? AND Status=?)",
        {state, "2026-01-02T03:04:06Z", "changed", id, "_META"})});
    request.statements.push_back(
        {statement(R"(INSERT INTO "email-outbox" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?})",
                   {id, state, item::Map{{"TTL", 1'800'000'000}}})});
    const auto answer = wait<partiql::ExecuteTransactionResponse>(
        [&](auto done) { executor.execute_transaction(request, std::move(done)); });
    return answer.has_value();
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  base::SeededRandom random_{4};
  Decider decide_;
};

TEST_F(StoreLayoutTest, TablesAreProtectedAgainstDeletion) {
  const StoreTables& tables = store_.tables();
  const std::vector<std::string> names = {tables.emails,         tables.spool(),   tables.counts(),
                                          tables.suppressions(), tables.mailbox(), tables.accept_keys()};
  for (const std::string& name : names) {
    EXPECT_FALSE(store_.engine().delete_table(name)) << name;
    // Those of earlier versions are not protected.
    store::UpdateTableRequest request;
    request.table_name = name;
    request.deletion_protection = false;
    ASSERT_TRUE(store_.engine().update_table(request)) << name;
  }
  ASSERT_TRUE(prepare_tables(store_.engine(), tables));
  for (const std::string& name : names) EXPECT_FALSE(store_.engine().delete_table(name)) << name;
}

TEST_F(StoreLayoutTest, EmailsAreFoundByStateAsBefore) {
  EXPECT_THAT(in_state("ACCEPTED"), UnorderedElementsAre(email_id(1), email_id(2), email_id(3)));
  take(2);
  EXPECT_THAT(in_state("ACCEPTED"), UnorderedElementsAre(email_id(1), email_id(3)));
  EXPECT_THAT(in_state("INTAKING"), ElementsAre(email_id(2)));
  EXPECT_THAT(in_state("SENT"), IsEmpty());
}

TEST_F(StoreLayoutTest, AnEmailIsAMetaRecordAndOneForEachState) {
  Email email = move(decide_(take(2), event::MessageBuilt{"m"}, now()));
  email = take(2);
  move(decide_(email, event::SendingPostponed{"later", now()}, now()));
  take(2);
  std::vector<std::string> sorts;
  for (const item::Item& item : select(R"(SELECT * FROM "email-outbox" WHERE Id=?)", {email_id(2)})) {
    sorts.push_back(item.find("Status")->as<std::string>());
    EXPECT_TRUE(item.find("Attributes")->as<item::Map>().contains("TTL"));
  }
  EXPECT_THAT(sorts, ElementsAre("ACCEPTED", "INTAKING", "PROCESSING", "PROCESSING#2", "READY", "READY#2", "_META"));
  const auto metas = select(R"(SELECT * FROM "email-outbox" WHERE Id=? AND Status=?)", {email_id(2), "_META"});
  ASSERT_THAT(metas, SizeIs(1));
  const item::Map& attributes = metas[0].find("Attributes")->as<item::Map>();
  EXPECT_EQ(attributes.find("Latest")->as<std::string>(), "PROCESSING");
  EXPECT_EQ(attributes.find("Reason")->as<std::string>(), "later");
  EXPECT_EQ(attributes.find("UpdatedAt")->as<std::string>(), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(attributes.find("PayloadFilePath")->as<std::string>(), "2026/01/" + email_id(2) + ".json");
  EXPECT_EQ(attributes.find("EmlFilePath")->as<std::string>(), "2026/01/" + email_id(2) + ".eml");
}

TEST_F(StoreLayoutTest, EveryRecordSaysWhenItExpires) {
  const std::int64_t kept = base::epoch_seconds(test_start + ledger_policy().keep);
  move(decide_(take(2), event::MessageBuilt{std::string(400'000, 'm')}, now()));
  ASSERT_TRUE(ledger_->record_bounce(email_id(2), {"bob@example.com", "5.1.1", "no", true, now()}));
  const auto expiry = [](const item::Item& item, std::string_view name) {
    const item::AttributeValue* value = item.find(name);
    EXPECT_NE(value, nullptr) << item::to_json(item).substr(0, 300);
    return value != nullptr ? value->as<item::Number>().to_int64().value_or(0) : 0;
  };
  for (const std::string& table : {store_.tables().emails, store_.tables().spool()}) {
    EXPECT_FALSE(store_.scan(table).empty());
    for (const item::Item& item : store_.scan(table)) EXPECT_EQ(expiry(item, "TTL"), kept);
  }
  // The counts of a day stay until its last e-mail is gone.
  const std::int64_t end = base::epoch_seconds(base::TimePoint(hours(24 * 20'456)) + ledger_policy().keep);
  EXPECT_THAT(store_.scan(store_.tables().counts()), testing::Not(IsEmpty()));
  for (const item::Item& item : store_.scan(store_.tables().counts())) EXPECT_EQ(expiry(item, "TTL"), end);
  EXPECT_THAT(store_.scan(store_.tables().accept_keys()), SizeIs(1));
  for (const item::Item& item : store_.scan(store_.tables().accept_keys()))
    EXPECT_EQ(expiry(item, "ttl"), base::epoch_seconds(test_start + hours(24)));
  for (const std::string& table : {store_.tables().emails, store_.tables().spool(), store_.tables().counts(),
                                   store_.tables().mailbox(), store_.tables().accept_keys()}) {
    const auto expiring = store_.engine().describe_time_to_live(table);
    ASSERT_TRUE(expiring);
    EXPECT_EQ(expiring->status, store::TimeToLiveStatus::enabled) << table;
  }
}

TEST_F(StoreLayoutTest, AnotherProgramMayChangeTheStateAsBefore) {
  const Email stale = find(3);
  ASSERT_TRUE(change_state(email_id(3), "INTAKING"));
  EXPECT_EQ(find(3).state, State::intaking);
  EXPECT_EQ(find(3).reason, "changed");
  EXPECT_THAT(in_state("INTAKING"), ElementsAre(email_id(3)));
  EXPECT_FALSE(change_state(email_id(3), "INTAKING")) << "the record of that state is there";
  // What it has taken is not ours.
  for (const Email& email : claimed(*ledger_, Pipeline::intake, 10)) EXPECT_NE(email.id, email_id(3));
  std::vector<Change> moves{moved_to(stale, State::intaking, now())};
  EXPECT_EQ(ledger_->move(std::move(moves)).front().status, MoveStatus::lock_not_acquired);
  // And it can be taken on from there.
  ASSERT_TRUE(change_state(email_id(3), "READY"));
  take(3);
  std::vector<std::string> states;
  const auto lines = ledger_->history(email_id(3));
  ASSERT_TRUE(lines);
  for (const HistoryEntry& entry : *lines) states.push_back(entry.status);
  EXPECT_THAT(states, UnorderedElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
}

TEST_F(StoreLayoutTest, TablesThatAreThereAreUsedWhenTheyFit) {
  EXPECT_TRUE(prepare_tables(store_.engine(), store_.tables()));
  store::CreateTableRequest other;
  other.table_name = "wrong";
  other.billing_mode = store::BillingMode::pay_per_request;
  other.attribute_definitions = {{"Id", item::Type::string}};
  other.key_schema = {{"Id", store::KeyRole::hash}};
  ASSERT_TRUE(store_.engine().create_table(other));
  const auto refused = prepare_tables(store_.engine(), StoreTables{"wrong"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "table wrong exists with other keys than the outbox needs");
  other.table_name = "bare";
  other.attribute_definitions.push_back({"Status", item::Type::string});
  other.attribute_definitions.push_back({"Since", item::Type::string});
  other.key_schema.push_back({"Status", store::KeyRole::range});
  store::GlobalIndexDefinition by_status;
  by_status.name = "StatusIndex";
  by_status.key_schema = {{"Status", store::KeyRole::hash}, {"Since", store::KeyRole::range}};
  by_status.projection.type = store::ProjectionType::all;
  other.global_indexes = std::vector<store::GlobalIndexDefinition>{by_status};
  ASSERT_TRUE(store_.engine().create_table(other));
  EXPECT_EQ(prepare_tables(store_.engine(), StoreTables{"bare"}).error().message,
            "table bare exists, and its index StatusIndex has other keys than the outbox needs");
}

}  // namespace
}  // namespace postino::outbox
