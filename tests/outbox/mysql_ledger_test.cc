// The ledger on MariaDB: it keeps the contract, and some promises of its own.
#include <gmock/gmock.h>

#include <thread>

#include "ledger_conformance.h"
#include "lossy_proxy.h"
#include "mysql_outbox.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr base::Milliseconds lease = seconds(30);

class MysqlLedgerUnderTest final : public LedgerUnderTest {
 public:
  explicit MysqlLedgerUnderTest(SpoolChoice spool) : outbox_(spool, clock_) {}

  Ledger& ledger() override { return first_->ledger(); }
  Ledger& second() override { return second_->ledger(); }
  SuppressionList& suppressions() override { return first_->suppressions(); }
  base::ManualClock& clock() override { return *clock_; }
  Counts recount(const std::string& tenant) override {
    Counts counts{};
    const mysql::Rows rows =
        outbox_.query("SELECT status, COUNT(*) FROM emails WHERE ? IN ('', tenant) GROUP BY status", {tenant});
    for (const mysql::Row row : rows) counts[static_cast<std::size_t>(*parse_state(row.text(0)))] = row.number(1);
    return counts;
  }

 private:
  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox_;
  const std::unique_ptr<MysqlProcess> first_ = outbox_.make_process();
  const std::unique_ptr<MysqlProcess> second_ = outbox_.make_process();
};

LedgerFactory factory(std::string name, SpoolChoice spool) {
  return {std::move(name), [spool] { return std::make_unique<MysqlLedgerUnderTest>(spool); }};
}

}  // namespace

std::vector<LedgerFactory> ledgers_under_test() { return {factory("Mysql", SpoolChoice::store)}; }

namespace {

INSTANTIATE_TEST_SUITE_P(Mysql, LedgerConformance,
                         testing::Values(factory("SpoolInDatabase", SpoolChoice::store),
                                         factory("SpoolInDirectory", SpoolChoice::directory)),
                         factory_name);

std::string render(const std::vector<AcceptOutcome>& outcomes) {
  std::string text;
  for (const AcceptOutcome& outcome : outcomes) text += outcome.error ? "refused " : "accepted ";
  return text;
}

class MysqlLedgerTest : public testing::Test {
 protected:
  explicit MysqlLedgerTest(SpoolChoice spool = SpoolChoice::store) : outbox_(spool, clock_) {}

  base::TimePoint now() const { return clock_->now(); }
  std::vector<NewEmail> some(int count, int first = 0) const {
    std::vector<NewEmail> emails;
    for (int i = first; i < first + count; ++i) emails.push_back(accepted(new_email(email_id(i)), now()));
    return emails;
  }
  AcceptKey key() const { return {"k", "hash", now() + hours(24)}; }
  void accept(int count, int first = 0) {
    const auto answer = process_->ledger().accept(some(count, first), std::nullopt, render);
    ASSERT_TRUE(answer) << answer.error().message;
    for (const AcceptOutcome& outcome : answer->outcomes) ASSERT_FALSE(outcome.error) << outcome.message;
  }
  static MoveOutcome move(Ledger& ledger, Change move) {
    std::vector<Change> moves;
    moves.push_back(std::move(move));
    return ledger.move(std::move(moves)).front();
  }
  Email step(Change each) {
    MoveOutcome outcome = move(process_->ledger(), std::move(each));
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return std::move(outcome.email);
  }
  Email find(int number) {
    const auto email = process_->ledger().find(email_id(number));
    EXPECT_TRUE(email && *email) << number;
    return email && *email ? **email : Email();
  }
  std::vector<std::string> history(int number) {
    std::vector<std::string> states;
    const auto lines = process_->ledger().history(email_id(number));
    EXPECT_TRUE(lines) << lines.error().message;
    for (const HistoryEntry& line : *lines) states.push_back(line.status);
    return states;
  }
  int swept(int limit) {
    const auto removed = process_->ledger().sweep(limit);
    EXPECT_TRUE(removed) << removed.error().message;
    return removed.value_or(0);
  }
  void cancel(int count, int first = 0) {
    std::vector<Change> moves;
    for (int i = first; i < first + count; ++i) moves.push_back(decide_(find(i), event::Cancelled{"enough"}, now()));
    for (const MoveOutcome& outcome : process_->ledger().move(std::move(moves)))
      EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  }
  std::int64_t counted(State state) {
    return (*process_->ledger().counts(std::nullopt))[static_cast<std::size_t>(state)];
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox_;
  const std::unique_ptr<MysqlProcess> process_ = outbox_.make_process();
  const std::unique_ptr<MysqlProcess> second_ = outbox_.make_process();
  base::SeededRandom random_{4};
  const Decider decide_;
};

// The server commits, and its answer is lost.
class LostCommitTest : public MysqlLedgerTest {
 protected:
  Ledger& ledger() { return lossy_->ledger(); }
  void lose_next_commit() { proxy_.lose_answer_to("COMMIT"); }

  mysql::LossyProxy proxy_{outbox_.server()};
  std::function<void()> meanwhile_ = [] {};
  const std::unique_ptr<MysqlProcess> lossy_ =
      outbox_.make_process_at(proxy_.options(), [this](base::Milliseconds) { std::exchange(meanwhile_, [] {})(); });
};

TEST_F(LostCommitTest, WhatWasAcceptedIsNotRefusedAsADuplicate) {
  accept(1);
  lose_next_commit();
  const auto answer = ledger().accept(some(4), std::nullopt, render);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(answer->outcomes[0].error, AcceptError::duplicated_id) << "which another request has used";
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(answer->outcomes[static_cast<std::size_t>(i)].error, std::nullopt) << i;
    EXPECT_EQ(answer->outcomes[static_cast<std::size_t>(i)].email, find(i));
    EXPECT_THAT(history(i), ElementsAre("ACCEPTED"));
    EXPECT_EQ(*process_->spool().read(find(i).payload_path), new_email(email_id(i)).payload);
  }
  EXPECT_EQ(counted(State::accepted), 4);
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_spool"), 4);
}

TEST_F(LostCommitTest, AKeyedRequestKnowsItsOwnCommit) {
  accept(1);
  lose_next_commit();
  const auto answer = ledger().accept(some(3), key(), render);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(answer->status, AcceptStatus::done);
  EXPECT_EQ(answer->stored_answer, "refused accepted accepted ");
  EXPECT_EQ(render(answer->outcomes), answer->stored_answer);
  EXPECT_EQ(answer->outcomes[2].email, find(2)) << "so that the worker can";
  EXPECT_EQ(counted(State::accepted), 3);
  EXPECT_EQ(ledger().accept(some(3), key(), render)->status, AcceptStatus::replayed);
}

TEST_F(LostCommitTest, ACommitThatTakesLongerThanItsConnectionIsWaitedFor) {
  mysql::ServerOptions impatient = proxy_.options();
  impatient.lock_timeout = seconds(1);
  int waits = 0;
  // After the loss of the connection, and after waiting in vain for the key, which the first attempt still has.
  const auto process = outbox_.make_process_at(impatient, [&](base::Milliseconds) {
    if (++waits == 2) proxy_.let_go();
  });
  proxy_.hold_back("COMMIT");
  const auto answer = process->ledger().accept(some(3), key(), render);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_GE(waits, 2);
  ASSERT_EQ(answer->status, AcceptStatus::done) << "the key is nobody else's";
  EXPECT_EQ(answer->stored_answer, "accepted accepted accepted ");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer->outcomes[static_cast<std::size_t>(i)].email, find(i));
}

TEST_F(LostCommitTest, WhatWasClaimedIsTold) {
  accept(3);
  lose_next_commit();
  const auto claim = ledger().claim(Pipeline::intake, 10, "w");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_THAT(claim->emails, SizeIs(3)) << "and does not wait for the end of a lease that nobody knows of";
  for (const Email& email : claim->emails) EXPECT_EQ(email, **process_->ledger().find(email.id));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(history(i), ElementsAre("ACCEPTED", "INTAKING"));
  EXPECT_EQ(counted(State::intaking), 3);
}

TEST_F(LostCommitTest, AMoveThatHappenedIsDone) {
  accept(3);
  std::vector<Change> moves;
  for (const Email& email : claimed(process_->ledger(), Pipeline::intake))
    moves.push_back(decide_(email, event::MessageBuilt{"message of " + email.id}, now()));
  step(decide_(find(1), event::LeaseEnded{}, now()));  // one is late
  lose_next_commit();
  const std::vector<MoveOutcome> outcomes = ledger().move(moves);
  EXPECT_EQ(proxy_.lost(), 1);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const bool late = moves[i].before.id == email_id(1);
    EXPECT_EQ(outcomes[i].status, late ? MoveStatus::lock_not_acquired : MoveStatus::done) << outcomes[i].error;
    if (late) continue;
    EXPECT_EQ(outcomes[i].email, **process_->ledger().find(moves[i].before.id));
    EXPECT_EQ(*process_->spool().read(outcomes[i].email.message_path), "message of " + moves[i].before.id);
  }
  EXPECT_THAT(history(0), ElementsAre("ACCEPTED", "INTAKING", "READY"));
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "ACCEPTED"));
  EXPECT_EQ(counted(State::ready), 2);
  EXPECT_EQ(counted(State::accepted), 1);
}

TEST_F(LostCommitTest, AMoveIsDoneEvenIfAnotherOneCameAfterIt) {
  accept(1);
  const Change built = decide_(find(0), event::MessageBuilt{"m"}, now());
  lose_next_commit();
  std::vector<Email> taken;
  meanwhile_ = [&] { taken = claimed(process_->ledger(), Pipeline::send); };
  const MoveOutcome outcome = move(ledger(), built);
  EXPECT_EQ(proxy_.lost(), 1);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(outcome.status, MoveStatus::done);
  EXPECT_EQ(outcome.email.version, 3);
  EXPECT_THAT(history(0), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
  EXPECT_EQ(find(0), taken[0]);
}

TEST_F(LostCommitTest, ABounceIsNotedOnce) {
  accept(1);
  lose_next_commit();
  ASSERT_TRUE(ledger().record_bounce(email_id(0), {"bob@example.com", "5.1.1", "no", true, now()}));
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_THAT(find(0).bounces, SizeIs(1));
  EXPECT_THAT(history(0), ElementsAre("ACCEPTED", "BOUNCED"));
}

TEST_F(LostCommitTest, WhatWasRestoredIsNotSomebodyElses) {
  StoredEmail stored;
  stored.email = new_email(email_id(0)).email;
  stored.email.version = 1;
  stored.email.created_at = stored.email.updated_at = now();
  stored.history = {{"ACCEPTED", now(), "", 1}};
  stored.payload = "p";
  lose_next_commit();
  EXPECT_EQ(ledger().restore(stored), true);
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_THAT(history(0), ElementsAre("ACCEPTED"));
  EXPECT_EQ(counted(State::accepted), 1);
  EXPECT_EQ(ledger().restore(stored), false);
}

TEST_F(LostCommitTest, AnObjectIsInTheSpoolOnce) {
  lose_next_commit();
  const auto path = lossy_->spool().write({SpoolKind::message, "e1", test_start, "bytes", now() + hours(1)});
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(*process_->spool().read(*path), "bytes");
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_spool"), 1);
}

// What the server is asked, as it sees it.
class StatementLog {
 public:
  explicit StatementLog(MysqlOutbox& outbox) : outbox_(outbox) {
    outbox_.execute("SET GLOBAL log_output = 'TABLE'");
    outbox_.execute("TRUNCATE mysql.general_log");
    outbox_.execute("SET GLOBAL general_log = ON");
  }
  ~StatementLog() { outbox_.execute("SET GLOBAL general_log = OFF"); }

  std::vector<std::string> statements() {
    outbox_.execute("SET GLOBAL general_log = OFF");
    std::vector<std::string> texts;
    for (const mysql::Row row :
         outbox_.query("SELECT argument FROM mysql.general_log WHERE thread_id <> CONNECTION_ID()"
                       " AND command_type IN ('Execute', 'Query') ORDER BY event_time"))
      texts.emplace_back(row.text(0));
    outbox_.execute("SET GLOBAL general_log = ON");
    return texts;
  }

 private:
  MysqlOutbox& outbox_;
};

TEST_F(MysqlLedgerTest, AClaimReadsAnIndexAndSortsNothing) {
  for (int i = 0; i < 200; i += 50) accept(50, i);
  outbox_.execute(
      "INSERT INTO emails (id, status, due_ms, ledger_version, ledger_status)"
      " SELECT UUID(), IF(seq % 2 = 0, 'SENT', 'ACCEPTED'), IF(seq % 2 = 0, NULL, 9000000000000), 1, 'SENT'"
      " FROM seq_1_to_3000");
  outbox_.query("ANALYZE TABLE emails");
  std::vector<std::string> claims;
  {
    StatementLog log(outbox_);
    EXPECT_THAT(claimed(process_->ledger(), Pipeline::intake, 25), SizeIs(25));
    claims = log.statements();
  }
  std::erase_if(claims, [](const std::string& sql) { return !sql.ends_with("FOR UPDATE SKIP LOCKED"); });
  ASSERT_THAT(claims, SizeIs(1));
  const mysql::Rows plan = outbox_.query("EXPLAIN " + claims[0]);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].text(2), "emails");
  EXPECT_EQ(plan[0].text(3), "range");
  EXPECT_EQ(plan[0].text(5), "idx_work");
  EXPECT_THAT(std::string(plan[0].text(9)), Not(HasSubstr("filesort")));
  EXPECT_THAT(std::string(plan[0].text(9)), Not(HasSubstr("temporary")));
}

TEST_F(MysqlLedgerTest, ABatchTakesFewStatements) {
  accept(50);
  const auto emails = claimed(process_->ledger(), Pipeline::intake);
  std::vector<Change> moves;
  for (std::size_t i = 0; i < 25; ++i) moves.push_back(decide_(emails[i], event::MessageBuilt{"m"}, now()));
  StatementLog log(outbox_);
  for (const MoveOutcome& outcome : process_->ledger().move(std::move(moves)))
    EXPECT_EQ(outcome.status, MoveStatus::done);
  // BEGIN, the lock, the messages, the states, the history, the counts, COMMIT.
  EXPECT_THAT(log.statements(), SizeIs(7));
}

// In small tables a database likes to look at every row, whatever it was asked for.
TEST_F(MysqlLedgerTest, MovesAndLeasesAreNotHeldUpByOtherEmails) {
  accept(28);
  const std::vector<Email> emails = claimed(process_->ledger(), Pipeline::intake, 25);
  const auto other = *mysql::Connection::open(outbox_.server());
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(other->query("SELECT id FROM emails WHERE status = 'ACCEPTED' FOR UPDATE"));
  const std::int64_t waits = outbox_.status("INNODB_ROW_LOCK_WAITS");
  EXPECT_THAT(*renewed(process_->ledger(), emails, now(), lease + lease), SizeIs(25));
  ASSERT_TRUE(amended(process_->ledger(), emails[3], event::LeaseRenewed{}, now()));
  std::vector<Change> moves;
  for (const Email& email : emails) moves.push_back(decide_(email, event::MessageBuilt{"m"}, now()));
  for (const MoveOutcome& outcome : process_->ledger().move(std::move(moves)))
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  ASSERT_TRUE(process_->ledger().accept(some(25, 100), std::nullopt, render));
  EXPECT_THAT(claimed(process_->ledger(), Pipeline::intake), SizeIs(25));
  EXPECT_EQ(outbox_.status("INNODB_ROW_LOCK_WAITS"), waits);
  ASSERT_TRUE(other->rollback());
}

TEST_F(MysqlLedgerTest, FailuresAreNotHeldUpByCallbacksOfSuccess) {
  Policy policy;
  policy.default_callback_url = "https://example.com/";
  const Decider calling(policy);
  accept(101);
  for (const Email& email : claimed(process_->ledger(), Pipeline::intake))
    step(calling(email, event::MessageBuilt{"m"}, now()));
  for (const Email& email : claimed(process_->ledger(), Pipeline::send))
    step(email.id == email_id(100) ? calling(email, event::SendingAttempted{{}, refused(email, "550")}, now())
                                   : calling(email, event::SendingAttempted{{}, delivered(email)}, now()));
  std::vector<std::string> first;
  for (int i = 0; i < 12; ++i)
    for (const Email& email : claimed(process_->ledger(), Pipeline::callback, 5)) first.push_back(email.id);
  EXPECT_THAT(first, Contains(email_id(100))) << "among " << first.size() << " of 101";
}

TEST_F(MysqlLedgerTest, WhatIsClaimedForSendingMayCountAsPerhapsSent) {
  const Policy resending;
  ASSERT_TRUE(unknown_from_claim(resending));
  const auto process = outbox_.make_process(resending);
  accept(2);
  for (const Email& email : claimed(process->ledger(), Pipeline::intake)) {
    EXPECT_FALSE(email.outcome_unknown);
    step(decide_(email, event::MessageBuilt{"m"}, now()));
  }
  const std::vector<Email> sending = claimed(process->ledger(), Pipeline::send);
  ASSERT_THAT(sending, SizeIs(2));
  for (const Email& email : sending) EXPECT_TRUE((*process_->ledger().find(email.id))->outcome_unknown);
  EXPECT_FALSE(step(decide_(sending[0], event::SendingAttempted{{}, delivered(sending[0])}, now())).outcome_unknown);
}

TEST_F(MysqlLedgerTest, TextFromOutsideIsStoredWhateverItsBytesAre) {
  accept(1);
  Change change = decide_(find(0), event::PayloadRejected{""}, now());
  change.after.reason =
      "caf\xe9 \xf0\x9f\x92\x8c\n" + std::string(1, '\0') + "\x1b[31m \xed\xa0\x80" + std::string(100'000, 'x');
  change.lines.back().entry.reason = change.after.reason;
  change.after.callback_error = "\xff\xfe";
  step(change);
  const Email stored = find(0);
  EXPECT_EQ(stored.reason.substr(0, 18), "caf? \xf0\x9f\x92\x8c\n  [31m ?");
  EXPECT_EQ(stored.reason.size(), 65'535U);
  EXPECT_EQ(stored.callback_error, "??");
  EXPECT_EQ(process_->ledger().history(email_id(0))->back().reason, stored.reason);
}

TEST_F(MysqlLedgerTest, IdsAreComparedExactly) {
  const NewEmail lower = accepted(new_email("abcdefab-0000-4000-8000-000000000001"), now());
  ASSERT_TRUE(process_->ledger().accept({lower}, std::nullopt, render));
  EXPECT_EQ(*process_->ledger().find("ABCDEFAB-0000-4000-8000-000000000001"), std::nullopt);
  EXPECT_EQ(*process_->ledger().find("abcdefab-0000-4000-8000-000000000001 "), std::nullopt);
  EXPECT_THAT(*process_->ledger().history("ABCDEFAB-0000-4000-8000-000000000001"), IsEmpty());
  // The key of the table does not tell them apart, so they cannot both be there.
  const NewEmail upper = accepted(new_email("ABCDEFAB-0000-4000-8000-000000000001"), now());
  const auto answer = process_->ledger().accept({upper}, std::nullopt, render);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcomes[0].error, AcceptError::duplicated_id);
}

TEST_F(MysqlLedgerTest, TenantsAndAddressesAreComparedExactly) {
  ASSERT_TRUE(process_->ledger().accept(
      {accepted(new_email(email_id(1), "Acme"), now()), accepted(new_email(email_id(2), "acme"), now())}, std::nullopt,
      render));
  EXPECT_THAT(process_->ledger().list({.tenant = "acme"})->emails, SizeIs(1));
  EXPECT_EQ((*process_->ledger().counts("Acme"))[0], 1);
  ASSERT_TRUE(process_->suppressions().add("acme", {"a\xc3\xa4@example.com", "r", now()}));
  EXPECT_THAT(*process_->suppressions().find("acme", {"aa@example.com"}), IsEmpty());
  EXPECT_THAT(*process_->suppressions().find("ACME", {"a\xc3\xa4@example.com"}), IsEmpty());
}

TEST_F(MysqlLedgerTest, DamagedRowsAreReportedAndKeepNobodyBack) {
  accept(3);
  outbox_.execute("UPDATE emails SET recipients = '[{', due_ms = 1 WHERE id = ?", {email_id(0)});
  const auto found = process_->ledger().find(email_id(0));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::corrupt);
  const auto claim = process_->ledger().claim(Pipeline::intake, 5, "w");
  ASSERT_TRUE(claim);
  EXPECT_THAT(claim->emails, SizeIs(2));
  ASSERT_THAT(process_->ledger().malformed(), SizeIs(1));
  EXPECT_EQ(process_->ledger().malformed()[0].id, email_id(0));
  accept(2, 10);
  const auto due = process_->ledger().due(Pipeline::intake, 5, {});
  ASSERT_TRUE(due);
  EXPECT_THAT(due->emails, SizeIs(2)) << "nor those that nobody claims";
  EXPECT_THAT(process_->ledger().list({})->emails, SizeIs(4));
  outbox_.execute("UPDATE emails SET status = 'INTAKING' WHERE id = ?", {email_id(0)});
  clock_->advance(lease + seconds(1));
  const auto expired = process_->ledger().find_ended_leases(now(), 10);
  ASSERT_TRUE(expired);
  EXPECT_THAT(*expired, SizeIs(2));
}

TEST_F(MysqlLedgerTest, ALockedRowKeepsNoOtherLeaseFromBeingRenewed) {
  accept(60);
  const std::vector<Email> held = claimed(process_->ledger(), Pipeline::intake);
  ASSERT_THAT(held, SizeIs(60));
  step(decide_(held[59], event::GivenBack{}, now()));
  clock_->advance(seconds(20));
  std::vector<Change> renewals;
  for (const Email& email : held) renewals.push_back(decide_(email, event::LeaseRenewed{}, now()));
  Renewals outcome;
  {
    const LockedRow locked(outbox_.server(), held[3].id);
    outcome = process_->ledger().renew(renewals);
  }
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.kept, SizeIs(58));
  EXPECT_THAT(outcome.kept, Not(Contains(held[3].id)));
  EXPECT_THAT(outcome.lost, ElementsAre(held[59].id)) << "the locked one is not lost";
  EXPECT_EQ(process_->ledger().find(held[30].id)->value().due_at, now() + lease);
  EXPECT_EQ(process_->ledger().find(held[3].id)->value().due_at, now() - seconds(20) + lease);
  EXPECT_THAT(process_->ledger().renew(renewals).kept, SizeIs(59)) << "it is renewed when it is free";
}

TEST_F(MysqlLedgerTest, ARescuerDoesNotWaitForWhoeverHoldsTheRow) {
  accept(2);
  const std::vector<Email> held = claimed(process_->ledger(), Pipeline::intake);
  clock_->advance(lease + seconds(1));
  std::vector<Change> rescues;
  for (const Email& email : held) rescues.push_back(decide_(email, event::LeaseEnded{}, now()));
  const LockedRow locked(outbox_.server(), held[0].id);
  const std::vector<MoveOutcome> outcomes = process_->ledger().move(std::move(rescues));
  EXPECT_EQ(outcomes[0].status, MoveStatus::lock_not_acquired);
  EXPECT_EQ(outcomes[1].status, MoveStatus::done);
}

TEST_F(MysqlLedgerTest, WhetherItCanBeWrittenIsTriedByWriting) {
  EXPECT_TRUE(process_->ledger().is_shared());
  ASSERT_TRUE(process_->ledger().try_write());
  ASSERT_TRUE(process_->ledger().try_write());
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_accept_keys"), 1);
  outbox_.execute("ALTER TABLE email_accept_keys RENAME TO email_keys_elsewhere");
  EXPECT_FALSE(process_->ledger().try_write());
}

TEST_F(MysqlLedgerTest, WhoComesWithTheSameKeyMeanwhileGetsTheSameAnswer) {
  std::thread other;
  std::optional<AcceptAnswer> faster;
  const auto answer = process_->ledger().accept(some(30), key(), [&](const std::vector<AcceptOutcome>& outcomes) {
    other = std::thread([&] { faster = *second_->ledger().accept(some(30), key(), render); });
    while (outbox_.status("INNODB_ROW_LOCK_CURRENT_WAITS") == 0) std::this_thread::yield();
    return "slower: " + render(outcomes);
  });
  other.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, AcceptStatus::done);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->status, AcceptStatus::replayed);
  EXPECT_EQ(faster->stored_answer, answer->stored_answer);
  EXPECT_EQ(counted(State::accepted), 30);
}

TEST_F(MysqlLedgerTest, WhoCannotWaitForAKeyHearsThatItIsInUse) {
  mysql::ServerOptions impatient = outbox_.server();
  impatient.lock_timeout = seconds(1);
  const auto process = outbox_.make_process_at(impatient, [](base::Milliseconds) {});
  std::optional<AcceptStatus> meanwhile;
  const auto answer = process_->ledger().accept(some(3), key(), [&](const std::vector<AcceptOutcome>& outcomes) {
    meanwhile = process->ledger().accept(some(3), key(), render)->status;
    return render(outcomes);
  });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(meanwhile, AcceptStatus::in_progress);
  EXPECT_EQ(answer->status, AcceptStatus::done);
  EXPECT_EQ(process->ledger().accept(some(3), key(), render)->status, AcceptStatus::replayed);
}

TEST_F(MysqlLedgerTest, EverythingOfAnEmailExpiresWithIt) {
  accept(30);
  ASSERT_TRUE(process_->ledger().accept(some(30, 100), key(), render));
  for (const Email& email : claimed(process_->ledger(), Pipeline::intake))
    step(decide_(email, event::MessageBuilt{"m"}, now()));
  cancel(30);
  cancel(30, 100);
  Draft later = new_email(email_id(500), "acme");
  later.email.send_at = now() + hours(24 * 20);
  ASSERT_TRUE(process_->ledger().accept({accepted(later, now())}, std::nullopt, render));
  const auto sweep = [&] {
    int rounds = 0;
    while (swept(1'000) > 0) ++rounds;
    return rounds;
  };
  clock_->advance(hours(24 * 29));
  EXPECT_EQ(swept(1'000), 1) << "the key";
  EXPECT_EQ(counted(State::cancelled), 60);
  clock_->advance(hours(24 * 2));
  EXPECT_EQ(sweep(), 1);
  EXPECT_FALSE(process_->ledger().find(email_id(0))->has_value());
  EXPECT_EQ(find(500).state, State::accepted) << "it is kept from the time it is sent";
  EXPECT_EQ(*process_->ledger().counts(std::nullopt), *process_->ledger().counts("acme"));
  EXPECT_EQ(counted(State::accepted), 1);
  cancel(1, 500);
  clock_->advance(hours(24 * 21));
  EXPECT_EQ(sweep(), 1);
  for (const char* table : {"emails", "email_statuses", "email_spool", "email_accept_keys"})
    EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM " + std::string(table)), 0) << table;
  EXPECT_EQ(counted(State::cancelled), 0);
}

TEST_F(MysqlLedgerTest, WhatIsNotFinishedNeverExpires) {
  accept(2);
  const std::string payload = *process_->ledger().spool().read(find(0).payload_path);
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM emails WHERE expires_ms IS NULL"), 2);
  outbox_.execute("UPDATE emails SET expires_ms = 1");  // as earlier versions wrote it
  clock_->advance(hours(24 * 400));
  while (swept(100) > 0) {
  }
  EXPECT_EQ(find(0).state, State::accepted);
  EXPECT_EQ(process_->ledger().spool().read(find(0).payload_path).value_or(""), payload);
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM emails WHERE expires_ms IS NULL"), 2);
  cancel(1);
  clock_->advance(hours(23));
  while (swept(100) > 0) {
  }
  EXPECT_EQ(find(0).state, State::cancelled) << "who looks for it has a day";
  clock_->advance(hours(2));
  while (swept(100) > 0) {
  }
  EXPECT_FALSE(process_->ledger().find(email_id(0))->has_value());
  EXPECT_EQ(find(1).state, State::accepted);
  clock_->advance(hours(24));
  while (swept(100) > 0) {
  }
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_spool"), 1) << "the payload goes after its e-mail";
}

TEST_F(MysqlLedgerTest, ASweepIsBoundedAndWaitsForNobody) {
  for (int i = 0; i < 250; i += 50) {
    accept(50, i);
    cancel(50, i);
  }
  clock_->advance(hours(24 * 31));
  const auto other = *mysql::Connection::open(outbox_.server());
  ASSERT_TRUE(other->begin());
  ASSERT_TRUE(other->query("SELECT id FROM emails WHERE id = ? FOR UPDATE", {email_id(7)}));
  const std::int64_t waits = outbox_.status("INNODB_ROW_LOCK_WAITS");
  EXPECT_EQ(swept(120), 240) << "so many e-mails, and so many payloads";
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM emails"), 130);
  EXPECT_EQ(counted(State::cancelled), 130);
  while (swept(120) > 0) {
  }
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM emails"), 1) << "the one that another connection has locked";
  EXPECT_EQ(outbox_.status("INNODB_ROW_LOCK_WAITS"), waits);
  ASSERT_TRUE(other->rollback());
  EXPECT_EQ(swept(120), 1);
}

class MysqlDirectorySpoolTest : public MysqlLedgerTest {
 protected:
  MysqlDirectorySpoolTest() : MysqlLedgerTest(SpoolChoice::directory) {}
  int files() const {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(outbox_.spool_directory()))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
};

TEST_F(MysqlDirectorySpoolTest, AMessageThatComesTooLateIsNotKept) {
  accept(1);
  const Email late = claimed(process_->ledger(), Pipeline::intake).at(0);
  step(decide_(late, event::LeaseEnded{}, now()));
  ASSERT_EQ(files(), 1) << "the payload";
  EXPECT_EQ(process_->ledger().move({decide_(late, event::MessageBuilt{"m"}, now())}).at(0).status,
            MoveStatus::lock_not_acquired);
  EXPECT_EQ(files(), 1);
  step(decide_(claimed(process_->ledger(), Pipeline::intake).at(0), event::MessageBuilt{"m"}, now()));
  EXPECT_EQ(files(), 2);
}

TEST_F(MysqlDirectorySpoolTest, ASpoolThatDoesNotTakePayloadsRefusesThem) {
  std::filesystem::remove_all(outbox_.spool_directory());
  const auto answer = process_->ledger().accept(some(2), std::nullopt, render);
  ASSERT_TRUE(answer);
  for (const AcceptOutcome& outcome : answer->outcomes) EXPECT_EQ(outcome.error, AcceptError::storage);
  EXPECT_FALSE(process_->ledger().find(email_id(0))->has_value());
  EXPECT_FALSE(process_->ledger().accept(some(2), key(), render)) << "with a key the caller is to come again";
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_accept_keys"), 0) << "and nothing is remembered";
}

TEST_F(MysqlDirectorySpoolTest, PayloadsOfRefusedEmailsAreTakenAway) {
  ASSERT_TRUE(process_->ledger().accept(some(1), key(), render));
  EXPECT_EQ(files(), 1);
  accept(0);
  ASSERT_TRUE(process_->ledger().accept(some(1), std::nullopt, render));
  EXPECT_EQ(files(), 1) << "a duplicate";
  EXPECT_EQ(process_->ledger().accept(some(1), key(), render)->status, AcceptStatus::replayed);
  EXPECT_EQ(files(), 1) << "a repeat";
}

class MysqlSpoolTest : public MysqlLedgerTest {
 protected:
  SpoolObject object(std::string bytes) const {
    return {SpoolKind::message, "e1", test_start, std::move(bytes), now() + hours(1)};
  }
};

TEST_F(MysqlSpoolTest, KeepsObjectsOfAnySize) {
  for (const std::size_t size : {0UL, 1UL, 524'287UL, 524'288UL, 524'289UL, 1'048'576UL, 20'000'000UL}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 1'000) bytes[i] = static_cast<char>(i / 1'000);
    const auto path = process_->spool().write(object(bytes));
    ASSERT_TRUE(path) << path.error().message;
    const auto read = second_->spool().read(*path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_TRUE(process_->spool().remove(*path));
    EXPECT_EQ(process_->spool().read(*path).error().code, base::ErrorCode::not_found);
    EXPECT_EQ(process_->spool().remove(*path).error().code, base::ErrorCode::not_found);
  }
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM email_spool"), 0) << "no part stays";
}

TEST_F(MysqlSpoolTest, WhatIsNotAdmittedIsNotRead) {
  const auto path = process_->spool().write(object(std::string(5'000'000, 'x')));
  ASSERT_TRUE(path);
  outbox_.execute("DELETE FROM email_spool WHERE part = 9");
  EXPECT_EQ(process_->spool().read(*path).error().code, base::ErrorCode::corrupt);
  const auto refused = process_->spool().read_if(*path, [](std::size_t bytes) { return bytes < 5'000'000; });
  EXPECT_EQ(refused.error().code, base::ErrorCode::exhausted) << "it is asked for before the other parts are read";
}

TEST_F(MysqlSpoolTest, NothingIsOverwritten) {
  const auto first = process_->spool().write(object("first"));
  const auto second = process_->spool().write(object("second"));
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*process_->spool().read(*first), "first");
}

TEST_F(MysqlSpoolTest, AMissingPartIsNoticed) {
  for (const int part : {0, 1, 2}) {
    const auto path = process_->spool().write(object(std::string(1'200'000, 'x')));
    ASSERT_TRUE(path);
    ASSERT_EQ(outbox_.execute("DELETE FROM email_spool WHERE path = ? AND part = ?", {*path, part}), 1U);
    EXPECT_EQ(process_->spool().read(*path).error().code, base::ErrorCode::corrupt) << part;
    outbox_.execute("UPDATE email_spool SET parts = 0 WHERE path = ?", {*path});
    EXPECT_EQ(process_->spool().read(*path).error().code, base::ErrorCode::corrupt) << "as another program says";
  }
}

}  // namespace
}  // namespace postino::outbox
