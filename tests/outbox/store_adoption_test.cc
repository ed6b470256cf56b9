// E-mails that another program writes into the store's table, by the statements of its own documentation.
#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <map>

#include "base/timestamp.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/store_recount.h"
#include "outbox/work/intake.h"
#include "outbox_store.h"
#include "partiql/executor.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The other program: statements, and nothing that Postino knows of.
class OtherProgram {
 public:
  explicit OtherProgram(store::Store& store) : executor_(store) {}

  // As it accepts an e-mail: a record of the present state, and one of the state reached.
  bool insert(const std::string& id, const std::string& payload_path, const std::string& state = "ACCEPTED",
              const std::string& message_path = "") {
    return run({insert_meta(id, payload_path, state, message_path), insert_line(id, state)});
  }
  // Its change of state.
  bool move(const std::string& id, const std::string& state, const std::string& reason = "") {
    return run(
        {statement(R"(UPDATE "email-outbox" SET Attributes.Latest=?, Attributes.UpdatedAt=?, Attributes.Reason=?)"
                   R"( WHERE Id=? AND Status=?)",
                   {state, "2026-01-02T03:04:06Z", reason, id, "_META"}),
         insert_line(id, state)});
  }
  bool run_alone(partiql::Statement one) {
    std::promise<bool> answered;
    partiql::ExecuteStatementRequest request;
    request.statement = std::move(one);
    executor_.execute_statement(request, [&](const auto& answer) { answered.set_value(answer.has_value()); });
    return answered.get_future().get();
  }
  static partiql::Statement insert_meta(const std::string& id, const std::string& payload_path,
                                        const std::string& state = "ACCEPTED", const std::string& message_path = "") {
    return statement(R"(INSERT INTO "email-outbox" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?})",
                     {id, "_META",
                      item::Map{{"Latest", state},
                                {"UpdatedAt", "2026-01-02T03:04:05Z"},
                                {"Reason", ""},
                                {"PayloadFilePath", payload_path},
                                {"EmlFilePath", message_path},
                                {"TTL", 1'800'000'000}}});
  }
  static partiql::Statement insert_line(const std::string& id, const std::string& state) {
    return statement(R"(INSERT INTO "email-outbox" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?})",
                     {id, state, item::Map{{"TTL", 1'800'000'000}}});
  }
  static partiql::Statement statement(std::string text, std::vector<item::AttributeValue> parameters) {
    partiql::Statement statement;
    statement.text = std::move(text);
    statement.parameters = std::move(parameters);
    statement.has_parameters = true;
    return statement;
  }

 private:
  bool run(std::vector<partiql::Statement> statements) {
    std::promise<bool> answered;
    partiql::ExecuteTransactionRequest request;
    for (partiql::Statement& each : statements) request.statements.push_back({std::move(each)});
    executor_.execute_transaction(request, [&](const auto& answer) {
      if (!answer) ADD_FAILURE() << answer.error().message;
      answered.set_value(answer.has_value());
    });
    return answered.get_future().get();
  }

  partiql::Executor executor_;
};

class StoreAdoptionTest : public testing::Test {
 protected:
  // A payload where the other program keeps it.
  std::string payload(const std::string& id, const std::string& more = "") {
    std::filesystem::create_directories(store_.spool_directory() / "2026/01");
    std::string path = "2026/01/" + id + ".json";
    std::ofstream(store_.spool_directory() / path)
        << R"({"id":")" << id << R"(","from":"Ann <ann@example.com>","to":["bob@example.com","cid@example.com"],)"
        << R"("subject":"s","body_text":"b","callback_url":"https://example.com/hook","tags":["t"])" << more << "}";
    return path;
  }
  std::unique_ptr<StoreLedger> watching_ledger() {
    StoreLedgerOptions options;
    options.foreign_writes = watched_.log();
    return store_.make_ledger(options);
  }
  Email find(int number) {
    const auto found = ledger_->find(email_id(number));
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_TRUE(!found || *found) << "there is none";
    return found && *found ? **found : Email();
  }
  std::vector<Email> due(Pipeline pipeline) {
    auto claim = ledger_->due(pipeline, 100, {});
    EXPECT_TRUE(claim) << claim.error().message;
    return claim ? std::move(claim->emails) : std::vector<Email>();
  }
  Email moved(Change change) {
    std::vector<Change> changes;
    changes.push_back(std::move(change));
    MoveOutcome outcome = ledger_->move(std::move(changes)).front();
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return std::move(outcome.email);
  }
  std::vector<std::string> history(int number) {
    std::vector<std::string> states;
    const auto lines = ledger_->history(email_id(number));
    for (const HistoryEntry& line : *lines) states.push_back(line.status);
    return states;
  }
  std::vector<std::string> listed(State state) {
    ListRequest request;
    request.states = {state};
    std::vector<std::string> ids;
    const auto page = ledger_->list(request);
    for (const Email& email : page->emails) ids.push_back(email.id);
    return ids;
  }
  std::int64_t counted(State state) { return (*ledger_->counts(std::nullopt))[index_of(state)]; }
  // What the counts must be, found by looking at each e-mail.
  void expect_counts_right() {
    Counts counts{};
    for (const item::Item& item : store_.scan(store_.tables().emails))
      if (item.find("Status")->as<std::string>() == meta_status)
        if (const auto email = email_of(item)) ++counts[index_of(email->state)];
    EXPECT_EQ(*ledger_->counts(std::nullopt), counts);
  }
  std::size_t marks() {
    std::size_t count = 0;
    for (const item::Item& item : store_.scan(store_.tables().emails))
      if (item.find("Status")->as<std::string>() == mark_status) ++count;
    return count;
  }
  void accept(int number) {
    Draft draft = new_email(email_id(number));
    draft.email.callback_url = "https://hooks.example/";
    ASSERT_TRUE(
        ledger_->accept({accepted(std::move(draft), clock_->now())}, std::nullopt, [](const auto&) { return ""; }));
  }
  // Looks at everything, as a server does in its first seconds.
  void look_through(StoreLedger& ledger) {
    while (true) {
      const auto more = ledger.look_for_foreign(2);
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start + minutes(5));
  OutboxStore store_{SpoolChoice::directory, clock_};
  base::SeededRandom random_{7};
  ForeignWrites watched_{store_.engine(), store_.tables().emails, *clock_, random_};
  OtherProgram theirs_{watched_};
  std::unique_ptr<StoreLedger> ledger_ = watching_ledger();
  const Decider decide_;
};

TEST_F(StoreAdoptionTest, WhatItAcceptsIsTakenUpAndGoesThrough) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sender, "ann@example.com");
  EXPECT_EQ(found[0].subject, "s");
  EXPECT_THAT(found[0].recipients,
              ElementsAre(Recipient{"bob@example.com", {}, ""}, Recipient{"cid@example.com", {}, ""}));
  EXPECT_EQ(found[0].callback_url, "https://example.com/hook");
  EXPECT_EQ(found[0].created_at, test_start) << "as it says";
  EXPECT_EQ(marks(), 0U);
  EXPECT_EQ(counted(State::accepted), 1);
  EXPECT_THAT(listed(State::accepted), ElementsAre(email_id(1)));
  const auto intake = *Intake::create(ledger_->spool(), nullptr, {});
  MessageRoom room;
  EXPECT_EQ(moved(decide_(found[0], intake->work(found[0], room).value(), clock_->now())).state, State::ready);
  const std::vector<Email> sending = claimed(*ledger_, Pipeline::send);
  ASSERT_THAT(sending, SizeIs(1));
  moved(decide_(sending[0], event::SendingAttempted{{}, delivered(sending[0])}, clock_->now()));
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));
  EXPECT_THAT(claimed(*ledger_, Pipeline::callback), SizeIs(1)) << "it is Postino's to call back for";
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, TheRecordMayComeBeforeItsLine) {
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_meta(email_id(1), payload(email_id(1)))));
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_line(email_id(1), "ACCEPTED"))) << "its place is free";
  moved(decide_(found[0], event::MessageBuilt{"Subject: s\r\n\r\nb\r\n"}, clock_->now()));
  EXPECT_THAT(due(Pipeline::intake), IsEmpty());
  EXPECT_EQ(marks(), 0U);
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY"));
}

TEST_F(StoreAdoptionTest, AMessageThatItHasBuiltIsSent) {
  const std::string path = payload(email_id(1));
  std::ofstream(store_.spool_directory() / "1.eml") << "Subject: theirs\r\n\r\nHello\r\n";
  ASSERT_TRUE(theirs_.insert(email_id(1), path, "READY", "1.eml"));
  const std::vector<Email> sending = claimed(*ledger_, Pipeline::send);
  ASSERT_THAT(sending, SizeIs(1));
  EXPECT_THAT(sending[0].recipients, SizeIs(2));
  EXPECT_THAT(*ledger_->spool().read(sending[0].message_path), HasSubstr("Subject: theirs"));
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, ItsMovesKeepCountsAndListingsRight) {
  accept(1);
  for (const char* const state : {"INTAKING", "READY"}) ASSERT_TRUE(theirs_.move(email_id(1), state));
  due(Pipeline::intake);
  EXPECT_EQ(find(1).state, State::ready);
  EXPECT_THAT(listed(State::ready), ElementsAre(email_id(1)));
  EXPECT_THAT(listed(State::accepted), IsEmpty());
  expect_counts_right();
  for (const char* const state : {"PROCESSING", "SENT"}) ASSERT_TRUE(theirs_.move(email_id(1), state, "250 ok"));
  EXPECT_THAT(claimed(*ledger_, Pipeline::callback), IsEmpty()) << "what it has sent it calls back for";
  EXPECT_EQ(find(1).reason, "250 ok");
  EXPECT_THAT(listed(State::sent), ElementsAre(email_id(1)));
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));
  EXPECT_TRUE(is_finished(find(1)));
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, CountingAnewBeforeAnAdoptionSpoilsNoCount) {
  accept(1);
  ASSERT_TRUE(theirs_.move(email_id(1), "INTAKING"));
  ASSERT_TRUE(recount(store_.engine(), store_.tables(), ledger_policy().keep));
  due(Pipeline::intake);
  EXPECT_EQ(counted(State::intaking), 1);
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, WhatItWorksOnIsLeftAloneUntilItMustBeGone) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  for (const char* const state : {"INTAKING", "READY", "PROCESSING"}) ASSERT_TRUE(theirs_.move(email_id(1), state));
  EXPECT_THAT(claimed(*ledger_, Pipeline::send), IsEmpty());
  clock_->advance(minutes(25));  // 30 after the time that it tells
  EXPECT_THAT(*ledger_->find_ended_leases(clock_->now(), 10), IsEmpty());
  EXPECT_FALSE(decide(find(1), event::Requeued{""}, ledger_policy(), clock_->now()));
  clock_->advance(minutes(2));
  const std::vector<Email> ended = *ledger_->find_ended_leases(clock_->now(), 10);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_TRUE(ended[0].outcome_unknown) << "another program does not say when it begins to send";
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, WhatOursBringsAfterItsMoveComesTooLate) {
  accept(1);
  const std::vector<Email> before = due(Pipeline::intake);
  ASSERT_THAT(before, SizeIs(1));
  ASSERT_TRUE(theirs_.move(email_id(1), "INTAKING"));
  std::vector<Change> changes;
  changes.push_back(decide_(before[0], event::MessageBuilt{"m"}, clock_->now()));
  EXPECT_EQ(ledger_->move(std::move(changes)).front().status, MoveStatus::lock_not_acquired);
  due(Pipeline::intake);
  EXPECT_EQ(find(1).state, State::intaking);
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, APayloadThatIsMissingIsForIntakeToWaitFor) {
  ASSERT_TRUE(theirs_.insert(email_id(1), "2026/01/missing.json"));
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(1));
  const auto intake = *Intake::create(ledger_->spool(), nullptr, {});
  MessageRoom room;
  const Email waiting = moved(decide_(found[0], intake->work(found[0], room).value(), clock_->now()));
  EXPECT_EQ(waiting.state, State::accepted);
  EXPECT_GT(waiting.due_at, clock_->now());
}

TEST_F(StoreAdoptionTest, ARecordThatCannotBeReadIsToldOfAndMended) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1)), "ACCEPTED"));
  ASSERT_TRUE(theirs_.insert(email_id(2), payload(email_id(2)), "LOST"));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1));
  ASSERT_THAT(ledger_->malformed(), SizeIs(1));
  EXPECT_EQ(ledger_->malformed()[0].id, email_id(2));
  EXPECT_THAT(ledger_->malformed()[0].error, HasSubstr("unknown state"));
  EXPECT_EQ(marks(), 1U) << "for the next process";
  EXPECT_EQ(ledger_->find(email_id(2)).error().message, ledger_->malformed()[0].error);
  ASSERT_TRUE(theirs_.move(email_id(2), "ACCEPTED"));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(2));
  EXPECT_THAT(ledger_->malformed(), IsEmpty());
  EXPECT_EQ(marks(), 0U);
}

TEST_F(StoreAdoptionTest, AHistoryThatIsTooLargeIsToldOfAndNotRead) {
  for (int i = 0; i < 30; ++i) {
    store::PutItemRequest put;
    put.table_name = store_.tables().emails;
    put.item = {{"Id", email_id(1)},
                {"Status", "READY#" + std::to_string(i)},
                {"Attributes", item::Map{{"Reason", std::string(390'000, 'x')}}}};
    ASSERT_TRUE(store_.engine().put_item(put));
  }
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  ASSERT_TRUE(theirs_.insert(email_id(2), payload(email_id(2))));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1)) << "it keeps no other back";
  ASSERT_THAT(ledger_->malformed(), SizeIs(1));
  EXPECT_THAT(ledger_->malformed()[0].error, HasSubstr("has more than 1000 lines or 8 MB"));
  std::size_t bytes = 0;
  const auto lines = ledger_->history(email_id(1));
  ASSERT_TRUE(lines);
  for (const HistoryEntry& line : *lines) bytes += line.reason.size();
  EXPECT_LE(bytes, most_history_bytes);
}

TEST_F(StoreAdoptionTest, RecordsThatCannotBeReadAreFoundAgainByTheNextProcess) {
  accept(1);
  ASSERT_TRUE(theirs_.insert(email_id(2), payload(email_id(2)), "LOST"));
  moved(decide_(due(Pipeline::intake)[0], event::Cancelled{""}, clock_->now()));
  ASSERT_TRUE(theirs_.move(email_id(1), "LOST"));
  OtherProgram(store_.engine()).insert(email_id(3), payload(email_id(3)), "LOST");
  look_through(*ledger_);
  due(Pipeline::intake);
  EXPECT_THAT(ledger_->malformed(), SizeIs(3));
  ForeignWrites next(store_.engine(), store_.tables().emails, *clock_, random_);
  StoreLedgerOptions options;
  options.foreign_writes = next.log();
  ledger_ = store_.make_ledger(options);
  due(Pipeline::intake);
  EXPECT_THAT(ledger_->malformed(), SizeIs(3));
  // Who mends them behind Postino's back is believed by the next look at them.
  ASSERT_TRUE(OtherProgram(store_.engine()).move(email_id(2), "ACCEPTED"));
  EXPECT_EQ(find(2).state, State::accepted);
  EXPECT_THAT(ledger_->malformed(), SizeIs(2));
  EXPECT_EQ(marks(), 2U);
}

TEST_F(StoreAdoptionTest, WhoLooksAtOnceFindsItAdopted) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  EXPECT_EQ(find(1).sender, "ann@example.com");
  EXPECT_EQ(marks(), 0U);
  EXPECT_THAT(ledger_->malformed(), IsEmpty());
  // While its write is under way it is shown as it is.
  watched_.log()->begin({email_id(2)});
  ASSERT_TRUE(theirs_.insert(email_id(2), payload(email_id(2))));
  EXPECT_EQ(find(2).state, State::accepted);
  EXPECT_THAT(ledger_->malformed(), IsEmpty());
  watched_.log()->end({email_id(2)});
  EXPECT_THAT(due(Pipeline::intake), SizeIs(2));
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, WhatWasWrittenRightBeforeTheServerEndedIsAdoptedByTheNext) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  EXPECT_EQ(marks(), 1U);
  ForeignWrites next(store_.engine(), store_.tables().emails, *clock_, random_);
  StoreLedgerOptions options;
  options.foreign_writes = next.log();
  ledger_ = store_.make_ledger(options);
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1));
  EXPECT_EQ(marks(), 0U);
}

// A write that is under way keeps its mark: what it is about to write is not there yet.
TEST_F(StoreAdoptionTest, AMarkStaysUntilItsWriteIsDone) {
  watched_.log()->begin({email_id(1)});
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = mark_of(email_id(1), clock_->now(), "token");
  ASSERT_TRUE(store_.engine().put_item(put));
  due(Pipeline::intake);
  EXPECT_EQ(marks(), 1U);
  OtherProgram unwatched(store_.engine());
  ASSERT_TRUE(unwatched.insert(email_id(1), payload(email_id(1))));
  watched_.log()->end({email_id(1)});
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1));
  EXPECT_EQ(marks(), 0U);
}

TEST_F(StoreAdoptionTest, AMarkWithoutATokenIsTakenAwayLikeOthers) {
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = mark_of(email_id(7), clock_->now(), "");
  put.item.erase("Token");
  ASSERT_TRUE(watched_.put_item(put));
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1));
  EXPECT_EQ(marks(), 0U);
}

TEST_F(StoreAdoptionTest, OneThatCannotBeAdoptedStrandsNoOther) {
  for (int i = 0; i < 120; ++i)  // more lines than a transaction takes
    ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_line(email_id(1), "READY#" + std::to_string(i))));
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_meta(email_id(1), payload(email_id(1)))));
  for (int i = 2; i < 30; ++i) ASSERT_TRUE(theirs_.insert(email_id(i), payload(email_id(i))));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(28));
  ASSERT_THAT(ledger_->malformed(), SizeIs(1));
  EXPECT_EQ(ledger_->malformed().front().id, email_id(1));
}

TEST_F(StoreAdoptionTest, ClaimsDoNotWaitForTheAdoptionOfAll) {
  const int many = 130;
  for (int i = 0; i < many; ++i) ASSERT_TRUE(theirs_.insert(email_id(i), payload(email_id(i))));
  EXPECT_THAT(ledger_->due(Pipeline::intake, 200, {}).value().emails, SizeIs(100));
  EXPECT_THAT(ledger_->due(Pipeline::intake, 200, {}).value().emails, SizeIs(many));
}

TEST_F(StoreAdoptionTest, WhatAnEarlierVersionLeftStrandedIsMended) {
  for (int i = 1; i <= 5; ++i) accept(i);
  OtherProgram unwatched(store_.engine());
  ASSERT_TRUE(unwatched.insert(email_id(6), payload(email_id(6))));
  for (const char* const state : {"INTAKING", "READY"}) ASSERT_TRUE(unwatched.move(email_id(2), state));
  ASSERT_TRUE(unwatched.move(email_id(3), "CANCELLED"));
  EXPECT_THAT(due(Pipeline::intake), SizeIs(3));
  look_through(*ledger_);
  EXPECT_THAT(due(Pipeline::intake), SizeIs(4));
  EXPECT_THAT(due(Pipeline::send), SizeIs(1));
  EXPECT_THAT(listed(State::cancelled), ElementsAre(email_id(3)));
  expect_counts_right();
  // It is done once.
  ASSERT_TRUE(unwatched.insert(email_id(7), payload(email_id(7))));
  ledger_ = watching_ledger();
  look_through(*ledger_);
  EXPECT_THAT(due(Pipeline::intake), SizeIs(4));
}

// Without an outbox, or with one on another ledger: no server adopts, and no marks are left in the table.
TEST_F(StoreAdoptionTest, WhatWasWrittenWithoutAnOutboxIsAdoptedByTheNext) {
  accept(1);
  look_through(*ledger_);
  ForeignWrites noting(store_.engine(), store_.tables().emails, *clock_, random_, ForeignWrites::Watch::note);
  OtherProgram unwatched(noting);
  ASSERT_TRUE(unwatched.insert(email_id(2), payload(email_id(2))));
  ASSERT_TRUE(unwatched.move(email_id(1), "CANCELLED"));
  EXPECT_EQ(marks(), 0U);
  ledger_ = watching_ledger();
  look_through(*ledger_);
  EXPECT_THAT(due(Pipeline::intake), SizeIs(1));
  EXPECT_THAT(listed(State::cancelled), ElementsAre(email_id(1)));
  expect_counts_right();
  store::PutItemRequest put;
  put.table_name = "none";
  put.item = {{"Id", "x"}, {"Status", "_META"}};
  ForeignWrites without_tables(store_.engine(), "none", *clock_, random_, ForeignWrites::Watch::note);
  EXPECT_EQ(without_tables.put_item(put).error().type, store::ErrorType::resource_not_found);
}

// By an earlier version, or while no server watched.
TEST_F(StoreAdoptionTest, WhatLostItsVersionIsAdoptedWhereItIsMet) {
  accept(1);
  accept(2);
  store::UpdateItemRequest damage;
  damage.table_name = store_.tables().emails;
  damage.key = meta_key(email_id(1));
  damage.update = "REMOVE Version";
  ASSERT_TRUE(store_.engine().update_item(damage));
  EXPECT_THAT(listed(State::accepted), ElementsAre(email_id(2)));
  EXPECT_THAT(listed(State::accepted), SizeIs(2));
  EXPECT_THAT(ledger_->malformed(), IsEmpty());
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, WhatItHasSentIsSentAsAWhole) {
  accept(1);
  ASSERT_FALSE(find(1).recipients.empty());
  for (const char* const state : {"INTAKING", "READY", "PROCESSING", "SENT"})
    ASSERT_TRUE(theirs_.move(email_id(1), state, "250 ok"));
  ASSERT_TRUE(theirs_.insert(email_id(2), payload(email_id(2)), "SENT-ACKNOWLEDGED"));
  for (const int number : {1, 2}) {
    const Email email = find(number);
    EXPECT_FALSE(email.recipients.empty());
    EXPECT_FALSE(is_partly_sent(email));
  }
  EXPECT_EQ(find(1).recipients[0].reply, "250 ok");
}

TEST_F(StoreAdoptionTest, WhatItHasFinishedIsKeptAsLongAsItSays) {
  clock_->advance(hours(24 * 47));
  OtherProgram unwatched(store_.engine());
  ASSERT_TRUE(unwatched.insert(email_id(1), payload(email_id(1)), "SENT"));
  ASSERT_TRUE(unwatched.insert(email_id(2), payload(email_id(2)), "FAILED-ACKNOWLEDGED"));
  store::UpdateItemRequest forget;
  forget.table_name = store_.tables().emails;
  forget.key = meta_key(email_id(2));
  forget.update = "REMOVE Attributes.#ttl";
  forget.placeholders.names = expr::Names{{"#ttl", "TTL"}};
  ASSERT_TRUE(store_.engine().update_item(forget));
  look_through(*ledger_);
  const base::TimePoint kept = clock_->now() + ledger_policy().keep;
  std::map<std::string, std::int64_t> ends{{email_id(1), 1'800'000'000}, {email_id(2), base::epoch_seconds(kept)}};
  for (const item::Item& item : store_.scan(store_.tables().emails)) {
    const item::AttributeValue end(ends[item.find("Id")->as<std::string>()]);
    EXPECT_EQ(*item.find("TTL"), end);
    if (item.find("Status")->as<std::string>() == meta_status)
      EXPECT_EQ(*item.find("Attributes")->get_if<item::Map>()->find("TTL"), end);
  }
  // And counted as long.
  for (const item::Item& slice : store_.scan(store_.tables().counts()))
    for (const auto& [state, id] : {std::pair("SENT", email_id(1)), std::pair("FAILED-ACKNOWLEDGED", email_id(2))})
      if (slice.contains(state)) EXPECT_GE(*slice.find("TTL")->as<item::Number>().to_int64(), ends[id]) << state;
  EXPECT_EQ(counted(State::sent), 1);
  EXPECT_EQ(counted(State::failed_acknowledged), 1);
  // Its next move changes nothing about that.
  ASSERT_TRUE(theirs_.move(email_id(1), "SENT-ACKNOWLEDGED"));
  EXPECT_EQ(find(1).state, State::sent_acknowledged);
  for (const item::Item& item : store_.scan(store_.tables().emails))
    if (item.find("Id")->as<std::string>() == email_id(1))
      EXPECT_EQ(*item.find("TTL"), item::AttributeValue(1'800'000'000));
  expect_counts_right();
}

TEST_F(StoreAdoptionTest, WhatItLeftLongAgoIsSoonTakenOver) {
  clock_->advance(hours(2));
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1)), "PROCESSING"));
  EXPECT_THAT(due(Pipeline::send), IsEmpty());
  EXPECT_THAT(*ledger_->find_ended_leases(clock_->now(), 10), IsEmpty()) << "it may be alive";
  clock_->advance(ledger_policy().lease + seconds(1));
  EXPECT_THAT(*ledger_->find_ended_leases(clock_->now(), 10), SizeIs(1));
}

TEST_F(StoreAdoptionTest, LinesThatComeLateHaveTheirPlace) {
  accept(1);
  const std::vector<Email> found = due(Pipeline::intake);
  const Email ready = moved(decide_(found[0], event::MessageBuilt{"m"}, clock_->now()));
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_line(email_id(1), "SENT")));
  due(Pipeline::intake);
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "SENT"));
  clock_->advance(minutes(2));
  const Email held = moved(decide_(ready, event::Held{""}, clock_->now()));
  clock_->advance(minutes(2));
  moved(decide_(held, event::Cancelled{""}, clock_->now()));
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::statement(
      R"(INSERT INTO "email-outbox" VALUE {'Id': ?, 'Status': ?, 'Attributes': ?})",
      {email_id(1), "PROCESSING",
       item::Map{{"UpdatedAt", base::format_timestamp(clock_->now() - minutes(1))}, {"Reason", ""}}})));
  due(Pipeline::intake);
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "SENT", "HELD", "PROCESSING", "CANCELLED"));
}

TEST_F(StoreAdoptionTest, TimeDoesNotGoBackWithItsMoves) {
  accept(1);
  clock_->advance(base::Milliseconds(700));
  moved(decide_(due(Pipeline::intake)[0], event::MessageBuilt{"m"}, clock_->now()));
  ASSERT_TRUE(theirs_.move(email_id(1), "PROCESSING"));  // long before, as it says
  EXPECT_EQ(find(1).updated_at, clock_->now());
  const auto lines = ledger_->history(email_id(1));
  EXPECT_TRUE(std::ranges::is_sorted(*lines, {}, &HistoryEntry::at));
}

TEST_F(StoreAdoptionTest, WhatItDeletesOrReplacesIsCountedNoMore) {
  for (int i = 1; i <= 4; ++i) accept(i);
  const auto remove = [&](int number) {
    store::DeleteItemRequest request;
    request.table_name = store_.tables().emails;
    request.key = meta_key(email_id(number));
    EXPECT_TRUE(watched_.delete_item(request));
  };
  remove(1);
  due(Pipeline::intake);
  expect_counts_right();
  // The record as the other program knows it, with nothing of Postino's.
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = {{"Id", email_id(2)},
              {"Status", "_META"},
              {"Attributes", item::Map{{"Latest", "SENT-ACKNOWLEDGED"}, {"PayloadFilePath", payload(email_id(2))}}}};
  ASSERT_TRUE(watched_.put_item(put));
  due(Pipeline::intake);
  EXPECT_EQ(counted(State::sent_acknowledged), 1);
  expect_counts_right();
  // Deleted after Postino has moved it, and inserted again before a server has looked.
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(2));
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_line(found[0].id, "SENT")));
  moved(decide_(found[0], event::MessageBuilt{"m"}, clock_->now()));
  const int number = found[0].id == email_id(3) ? 3 : 4;
  remove(number);
  ASSERT_TRUE(theirs_.run_alone(OtherProgram::insert_meta(email_id(number), payload(email_id(number)))));
  due(Pipeline::intake);
  expect_counts_right();
  // Counted again before a server has looked.
  remove(number);
  ASSERT_TRUE(recount(store_.engine(), store_.tables(), ledger_policy().keep));
  due(Pipeline::intake);
  expect_counts_right();
  EXPECT_EQ(marks(), 0U);
}

TEST_F(StoreAdoptionTest, EmailsOfOursNeedNoAdoption) {
  for (int i = 1; i <= 4; ++i) accept(i);
  const std::vector<Email> intake = claimed(*ledger_, Pipeline::intake, 3);
  moved(decide_(intake[0], event::MessageBuilt{"m"}, clock_->now()));
  moved(decide_(intake[1], event::PayloadRejected{"no"}, clock_->now()));
  claimed(*ledger_, Pipeline::send);
  moved(decide_(claimed(*ledger_, Pipeline::callback)[0], event::CallbackFailed{"HTTP 410", std::nullopt, true},
                clock_->now()));
  moved(decide_(due(Pipeline::intake)[0], event::Held{""}, clock_->now()));
  int looked_at = 0;
  for (const item::Item& item : store_.scan(store_.tables().emails)) {
    if (item.find("Status")->as<std::string>() != meta_status) continue;
    ++looked_at;
    EXPECT_FALSE(needs_adoption(item)) << item::to_json(item);
  }
  EXPECT_EQ(looked_at, 4);
}

TEST_F(StoreAdoptionTest, ItsOtherAttributesStay) {
  ASSERT_TRUE(theirs_.insert(email_id(1), payload(email_id(1))));
  store::UpdateItemRequest update;
  update.table_name = store_.tables().emails;
  update.key = meta_key(email_id(1));
  update.update = "SET Campaign = :c, Attributes.Retries = :r";
  update.placeholders.values = item::Map{{":c", "spring"}, {":r", 3}};
  ASSERT_TRUE(watched_.update_item(update));
  due(Pipeline::intake);
  store::GetItemRequest get;
  get.table_name = store_.tables().emails;
  get.key = meta_key(email_id(1));
  const auto meta = store_.engine().get_item(get);
  ASSERT_TRUE(meta->item);
  EXPECT_EQ(*meta->item->find("Campaign"), item::AttributeValue("spring"));
  EXPECT_EQ(*meta->item->find("Attributes")->get_if<item::Map>()->find("Retries"), item::AttributeValue(3));
  EXPECT_TRUE(meta->item->contains("TTL")) << "at the top, where expiry looks";
}

class StoreAdoptionIndexTest : public StoreAdoptionTest, public testing::WithParamInterface<bool> {};

// As its documentation has the table: without the indexes that Postino needs, and with e-mails in it.
TEST_P(StoreAdoptionIndexTest, ATableOfAnotherProgramGetsTheMissingIndexes) {
  store::CreateTableRequest table;
  table.table_name = "theirs";
  table.billing_mode = store::BillingMode::provisioned;
  table.throughput = store::Throughput{5, 5};
  table.attribute_definitions = {{"Id", item::Type::string}, {"Status", item::Type::string}};
  table.key_schema = {{"Id", store::KeyRole::hash}, {"Status", store::KeyRole::range}};
  store::GlobalIndexDefinition by_status;
  by_status.name = "StatusIndex";
  by_status.key_schema = {{"Status", store::KeyRole::hash}};
  if (GetParam()) by_status.key_schema.push_back({"Id", store::KeyRole::range});
  by_status.projection.type = store::ProjectionType::include;
  by_status.projection.non_key_attributes = std::vector<std::string>{"Attributes"};
  by_status.throughput = store::Throughput{5, 5};
  table.global_indexes = std::vector<store::GlobalIndexDefinition>{by_status};
  ASSERT_TRUE(store_.engine().create_table(table));
  store::PutItemRequest put;
  put.table_name = "theirs";
  put.item = {{"Id", email_id(1)},
              {"Status", "_META"},
              {"Attributes", item::Map{{"Latest", "ACCEPTED"},
                                       {"UpdatedAt", "2026-01-02T03:04:05Z"},
                                       {"PayloadFilePath", payload(email_id(1))}}}};
  ASSERT_TRUE(store_.engine().put_item(put));
  const auto prepared = prepare_tables(store_.engine(), StoreTables{"theirs"},
                                       [&] { return store_.engine().run_maintenance_once().has_value(); });
  ASSERT_TRUE(prepared) << prepared.error().message;
  StoreLedger ledger(store_.engine(), StoreTables{"theirs"}, ledger_policy(), *clock_, random_, store_.retry(),
                     store_.make_spool());
  look_through(ledger);
  EXPECT_THAT(ledger.due(Pipeline::intake, 10, {})->emails, SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(WithASortKeyAndWithout, StoreAdoptionIndexTest, testing::Bool());

TEST_F(StoreAdoptionTest, OtherTablesAreNotMarked) {
  ASSERT_TRUE(prepare_tables(store_.engine(), StoreTables{"another"}));
  store::PutItemRequest put;
  put.table_name = "another";
  put.item = {{"Id", "x"}, {"Status", "_META"}};
  ASSERT_TRUE(watched_.put_item(put));
  EXPECT_EQ(marks(), 0U);
  EXPECT_THAT(store_.scan("another"), SizeIs(1));
}

}  // namespace
}  // namespace postino::outbox
